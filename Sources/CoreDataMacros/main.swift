import MacroImplementations

// The compiler requests a macro by the module of the plug-in and the name of a type in it.
final class ManagedMacro: MacroImplementations.ManagedMacro {}
final class ManagedAccessorMacro: MacroImplementations.ManagedAccessorMacro {}

try MacroPlugin.run("CoreDataMacros", macros: [ManagedMacro.self, ManagedAccessorMacro.self])
