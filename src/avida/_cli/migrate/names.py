"""Imports of nvidia.dali: which full name an expression stands for, and the imports that replace them."""

from __future__ import annotations

import ast

from avida._cli.migrate import table
from avida._cli.migrate.source import Source
from avida._cli.migrate.table import DALI, DYNAMIC, MODULES


class Names:
    """The names that a script has imported from nvidia.dali."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._full: dict[str, str] = {}  # by the name in the script
        self._imports: list[ast.Import | ast.ImportFrom] = []
        self._needed: set[str] = set()
        functions = [node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
        self._locals: dict[ast.AST, set[str]] = {function: _variables(function) for function in functions}
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Import):
                found = [(alias.asname or alias.name.split(".")[0], alias) for alias in node.names]
                found = [(name, alias) for name, alias in found if _is_dali(alias.name)]
                self._full |= {name: alias.name if alias.asname else name for name, alias in found}
            elif isinstance(node, ast.ImportFrom) and not node.level and _is_dali(node.module or ""):
                found = [(alias.asname or alias.name, alias) for alias in node.names]
                self._full |= {name: f"{node.module}.{alias.name}" for name, alias in found}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module == "nvidia":
                found = [(alias.asname or alias.name, alias) for alias in node.names if alias.name == "dali"]
                self._full |= {name: DALI for name, _ in found}
            else:
                continue
            if found:
                self._imports.append(node)

    def __bool__(self) -> bool:
        return bool(self._imports)

    def path(self, node: ast.AST | None) -> str | None:
        """The full name that an expression such as ``fn.random.uniform`` stands for, if it begins in nvidia.dali."""
        if isinstance(node, ast.Name):
            return None if self._is_local(node) else self._full.get(node.id)
        if isinstance(node, ast.Attribute):
            above = self.path(node.value)
            return above and f"{above}.{node.attr}"
        return None

    def _is_local(self, name: ast.Name) -> bool:
        """Whether a function has a variable of this name of its own."""
        node: ast.AST = name
        while name.id in self._full and node in self._source.parents:
            node = self._source.parents[node]
            if name.id in self._locals.get(node, ()):
                return True
        return False

    def stays(self, node: ast.AST) -> bool:
        """Whether an expression is right as it is, because the import of its first name stays."""
        while isinstance(node, ast.Attribute):
            node = node.value
        full = self._full[node.id] if isinstance(node, ast.Name) else ""
        return table.module_of(full) is not None or table.is_dynamic(full)

    def need(self, module: str) -> str:
        """Has a module imported that the new text uses."""
        self._needed.add(module)
        return module

    def unresolved(self, migrated: str) -> list[tuple[ast.AST, str]]:
        """Uses of names of nvidia.dali in the new text, whose imports are gone; each with its name."""
        tree = ast.parse(migrated)
        bound = {name for node in ast.walk(tree) for name in _bound(node)}
        gone = set(self._full) - bound
        return [(node, node.id) for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in gone]

    def rewrite_imports(self) -> None:
        """``import avida as ndd`` takes the place of the first import, and modules that avida has too are kept."""
        uses = [node for node in ast.walk(self._source.tree) if isinstance(node, ast.Name) and node.id == "ndd"]
        if any(self.path(node) != DYNAMIC for node in uses):
            self._source.mark(self._imports[0], "the script has an ndd of its own: import avida under another name")
        for i, node in enumerate(self._imports):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and node.module not in MODULES:
                self._source.mark(node, "import names, so that it can be seen what they are")
            lines = [f"import {module}" for module in sorted(self._needed)] if i == 0 else []
            lines += ["import avida as ndd"] if i == 0 else []
            lines += [line for line in self._imports_of(node) if line not in lines]
            if lines:
                self._source.edit(node, f"\n{self._source.indent_of(node)}".join(lines))
            else:
                self._source.remove_statement(node)

    def _imports_of(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """What remains of an import."""
        if isinstance(node, ast.ImportFrom):
            return self._from_imports_of(node)
        lines = []
        for alias in node.names:
            if not _is_dali(alias.name):
                lines.append(f"import {_renamed(alias.name, alias)}")
            elif alias.asname and alias.name in MODULES:
                lines.append(f"from avida import {_renamed(MODULES[alias.name], alias)}")
            elif alias.asname and table.is_dynamic(alias.name):
                inner = alias.name.removeprefix(DYNAMIC)
                lines.append(f"import avida{inner} as {alias.asname}")
        return lines

    def _from_imports_of(self, node: ast.ImportFrom) -> list[str]:
        found: dict[str, list[str]] = {}
        lines = []
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            if full in MODULES:
                found.setdefault("avida", []).append(_renamed(MODULES[full], alias))
            elif node.module in MODULES:
                name = f"{MODULES[node.module]}.{alias.name}"
                if alias.name == "*" or table.find(name) is not None:
                    found.setdefault(f"avida.{MODULES[node.module]}", []).append(_renamed(alias.name, alias))
            elif full == DYNAMIC:
                lines.append(f"import avida as {alias.asname or alias.name}")
            elif table.is_dynamic(full):
                module = (node.module or "").replace(DYNAMIC, "avida")
                found.setdefault(module, []).append(_renamed(alias.name, alias))
            elif node.module == "nvidia" and alias.name != "dali":
                found.setdefault("nvidia", []).append(_renamed(alias.name, alias))
        return lines + [f"from {module} import {', '.join(sorted(names))}" for module, names in found.items()]


def _is_dali(module: str) -> bool:
    return module == DALI or module.startswith(DALI + ".")


def _bound(node: ast.AST) -> list[str]:
    """The names that a node binds."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.split(".")[0] for alias in node.names]
        case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
            return [node.name]
        case ast.Name(ctx=ast.Store()):
            return [node.id]
        case ast.arg():
            return [node.arg]
    return []


def _variables(function: ast.AST) -> set[str]:
    nodes = list(ast.walk(function))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _renamed(name: str, alias: ast.alias) -> str:
    return f"{name} as {alias.asname}" if alias.asname not in (None, name) else name
