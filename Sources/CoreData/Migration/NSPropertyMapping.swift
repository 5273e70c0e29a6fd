import Foundation

/// How one property of a destination entity gets its value.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspropertymapping>
///
/// ```swift
/// let names = entityMapping.attributeMappings?.filter { $0.valueExpression == nil }.compactMap(\.name)    // new attributes
/// ```
open class NSPropertyMapping: NSObject {
    /// The name of the property in the destination entity.
    open var name: String?

    /// The expression for the value, in which `$source` is the source object. nil: the property keeps its default.
    open var valueExpression: NSExpression?

    /// Facts of the application's own about the mapping.
    open var userInfo: [AnyHashable: Any]?

    /// Makes a mapping without name and expression.
    public override init() {
        super.init()
    }
}
