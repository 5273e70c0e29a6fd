// The compiler starts a plug-in and requests macro expansions from it. The toolchain's copy of
// swift-syntax has no SwiftCompilerPlugin module; only the message listener that this module wraps
// is needed.

import SwiftSyntaxMacros

/// A compiler plug-in: the program of a macro target.
package enum MacroPlugin {
    /// Handles the compiler's requests until the compiler closes the connection.
    ///
    /// - Parameters:
    ///   - name: the plug-in's name, for messages.
    ///   - macros: the macros of the plug-in; the compiler requests them by the names of their
    ///     types.
    package static func run(_ name: String, macros: [any Macro.Type]) throws {
        #if SWIFT_SYNTAX_PACKAGE
            PackagePlugin.macros = macros
            try PackagePlugin.main()
        #elseif canImport(SwiftCompilerPluginMessageHandling)
            let listener = try CompilerPluginMessageListener(
                connection: StandardIOMessageConnection(), provider: ToolchainPlugin(name: name, macros: macros))
            try listener.main()
        #endif
    }
}

#if SWIFT_SYNTAX_PACKAGE
    import SwiftCompilerPlugin

    private struct PackagePlugin: CompilerPlugin {
        // Set once, by `run`, before anything reads it.
        nonisolated(unsafe) static var macros: [any Macro.Type] = []
        var providingMacros: [any Macro.Type] { Self.macros }
    }
#elseif canImport(SwiftCompilerPluginMessageHandling)
    @_spi(PluginMessage) import SwiftCompilerPluginMessageHandling

    private struct ToolchainPlugin: PluginProvider {
        let name: String
        let macros: [any Macro.Type]

        func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
            guard let macro = macros.first(where: { String(describing: $0) == typeName }) else {
                throw UnknownMacro(plugin: name, macro: "\(moduleName).\(typeName)")
            }
            return macro
        }
    }

    private struct UnknownMacro: Error, CustomStringConvertible {
        let plugin: String
        let macro: String
        var description: String { "the plug-in \(plugin) has no macro \(macro)" }
    }
#else
    #error(
        """
        The toolchain's swift-syntax was not found: no lib/swift/host beside the swiftc on PATH. \
        Put the toolchain's bin folder on PATH, or set OPENCOREDATA_SWIFT_SYNTAX_PACKAGE=1 to use the package.
        """)
#endif
