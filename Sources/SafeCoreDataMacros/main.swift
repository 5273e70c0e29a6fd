import MacroImplementations

// The compiler requests a macro by the module of the plug-in and the name of a type in it.
final class EntityMacro: MacroImplementations.EntityMacro {}
final class EntityPropertyMacro: MacroImplementations.EntityPropertyMacro {}
final class AttributeMacro: MacroImplementations.AttributeMacro {}
final class RelationshipMacro: MacroImplementations.RelationshipMacro {}
final class TransientMacro: MacroImplementations.TransientMacro {}
final class DerivedMacro: MacroImplementations.DerivedMacro {}

try MacroPlugin.run(
    "SafeCoreDataMacros",
    macros: [
        EntityMacro.self, EntityPropertyMacro.self, AttributeMacro.self, RelationshipMacro.self, TransientMacro.self,
        DerivedMacro.self,
    ])
