import CoreData

extension NSCompositeAttributeDescription {
    /// A composite attribute, optional unless said otherwise.
    convenience init(
        _ name: String, was former: String? = nil, optional: Bool = true, isEnumeration: Bool = false,
        _ elements: NSAttributeDescription...
    ) {
        self.init()
        self.name = name
        isOptional = optional
        self.elements = elements
        if let former { renamingIdentifier = former }
        if isEnumeration { userInfo = ["EnumType": true] }
    }
}
