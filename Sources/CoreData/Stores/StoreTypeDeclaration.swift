/// A store type that another module of the package provides.
package struct StoreTypeDeclaration: Sendable {
    /// The name of the type, as `NSPersistentStore.type` gives it.
    let type: String
    let storeClass: any ServerStore.Type
    /// Options that have no effect on such stores, with the reason for each.
    ///
    /// The reason is printed once on standard error.
    let optionsWithoutEffect: [String: String]

    package init(type: String, storeClass: any ServerStore.Type, optionsWithoutEffect: [String: String]) {
        self.type = type
        self.storeClass = storeClass
        self.optionsWithoutEffect = optionsWithoutEffect
    }
}

/// Declares the store type of a module. The module's class `StoreModule` conforms to it.
package protocol StoreTypeProvider: AnyObject, SendableMetatype {
    static var storeType: StoreTypeDeclaration { get }
}
