"""Control flow that traced values decide: functions are rewritten on demand, so that both ways are recorded."""
