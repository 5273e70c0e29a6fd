import MacroPluginSupport

try MacroPlugin.run(
    "SafeCoreDataMacros",
    macros: [
        EntityMacro.self, EntityPropertyMacro.self, AttributeMacro.self, RelationshipMacro.self, TransientMacro.self,
        DerivedMacro.self,
    ])
