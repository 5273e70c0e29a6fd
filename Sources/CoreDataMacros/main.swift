// The compiler starts this program and asks it to expand macros. The toolchain's copy of swift-syntax has no
// SwiftCompilerPlugin module; the message listener that the module wraps is all that is needed.

import SwiftSyntaxMacros

enum ProvidedMacros {
    static var all: [any Macro.Type] { [ManagedMacro.self, ManagedAccessorMacro.self] }
}

#if SWIFT_SYNTAX_PACKAGE
    import SwiftCompilerPlugin

    struct CoreDataPlugin: CompilerPlugin {
        var providingMacros: [any Macro.Type] { ProvidedMacros.all }
    }

    try CoreDataPlugin.main()
#elseif canImport(SwiftCompilerPluginMessageHandling)
    @_spi(PluginMessage) import SwiftCompilerPluginMessageHandling

    struct CoreDataPlugin: PluginProvider {
        func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
            guard let macro = ProvidedMacros.all.first(where: { String(describing: $0) == typeName }) else {
                throw UnknownMacro(name: "\(moduleName).\(typeName)")
            }
            return macro
        }
    }

    struct UnknownMacro: Error, CustomStringConvertible {
        let name: String
        var description: String { "the plug-in CoreDataMacros has no macro \(name)" }
    }

    try CompilerPluginMessageListener(connection: StandardIOMessageConnection(), provider: CoreDataPlugin()).main()
#else
    #error(
        """
        The toolchain's swift-syntax was not found: no lib/swift/host beside the swiftc on PATH. \
        Put the toolchain's bin folder on PATH, or set OPENCOREDATA_SWIFT_SYNTAX_PACKAGE=1 to use the package.
        """)
#endif
