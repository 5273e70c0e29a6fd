import MacroPluginSupport

try MacroPlugin.run("CoreDataMacros", macros: [ManagedMacro.self, ManagedAccessorMacro.self])
