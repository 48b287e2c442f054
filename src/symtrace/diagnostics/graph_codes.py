"""ST1xx: edits, invariants and arguments of a graph."""

from __future__ import annotations

from .registry import define

define("ST101", "foreign node", "node `{node}` belongs to another graph and can't be used in `{user}`",
       help=("copy it first with Graph.node_copy or Graph.graph_copy",))
define("ST102", "erased node", "node `{node}` has been erased and can't be used in `{user}`",
       help=("use the node that replaced it, or create it again",))
define("ST103", "node still in use", "can't erase `{node}`: it is still used by {users}",
       help=("call node.replace_all_uses_with(other) first", "erase its users first"))
define("ST104", "definition after use", "`{user}` would use `{node}` before it is defined",
       help=("insert `{node}` earlier, or `{user}` later",))
define("ST105", "placeholder out of place", "placeholder `{node}` would stand after a node that computes",
       help=("insert placeholders at the top: graph.inserting_before(first_node)",))
define("ST106", "output not last", "`{node}` would stand after the output",
       help=("insert it with graph.inserting_before(graph.output_node())",))
define("ST107", "second output", "the graph has an output already: `{node}`",
       help=("change its arguments: graph.output_node().args = (value,)",))
define("ST108", "name taken", "the name `{name}` is taken by another node",
       help=("leave the name out to get a free one",))
define("ST109", "invalid name", "`{name}` is not a valid node name",
       help=("a node name is a Python identifier that is no keyword",))
define("ST110", "self reference", "`{node}` would use itself",
       help=("replace_all_uses_with(..., delete_user_cb=...) can leave some users as they are",))
define("ST111", "unknown op", "`{op}` is not an op kind; use one of {known}")
define("ST112", "wrong argument type", "{what} must be {expected}, not {actual}")
define("ST113", "graph without output", "the graph has no output",
       help=("end it with graph.output(value)",))
define("ST114", "node hidden in a value", "`{user}` holds a node inside a {container}, where the graph can't see it",
       help=("put nodes in a tuple, list, dict or slice",))
define("ST115", "unresolved target", "`{node}`: {kind} target `{target}` does not resolve in {module}",
       help=("the nearest names are: {nearest}",))
define("ST116", "invariants broken", "{count} fault(s) in the graph\n{details}")
define("ST117", "not in this graph", "node `{node}` is not part of this graph")
define("ST118", "insertion point", "the insertion point `{node}` {reason}")
define("ST119", "missing submodule", "`{target}` is not a submodule of the module that owns the graph",
       help=("add it first with GraphModule.add_submodule",))
