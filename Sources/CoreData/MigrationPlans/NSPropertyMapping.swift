import Foundation

/// A mapping that gives one property of a destination entity its value.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspropertymapping>
///
/// ```swift
/// let names = entityMapping.attributeMappings?.filter { $0.valueExpression == nil
/// }.compactMap(\.name)    // new attributes
/// ```
open class NSPropertyMapping: NSObject {
    /// The name of the property in the destination entity.
    open var name: String?

    /// The expression for the value. If nil, the property keeps its default.
    ///
    /// Its variables are `$source` and `$destination` (the objects), `$manager`, `$entityMapping`,
    /// `$propertyMapping` and `$entityPolicy`.
    open var valueExpression: NSExpression?

    /// Custom information of the application about the mapping.
    open var userInfo: [AnyHashable: Any]?

    /// Creates a mapping without name and expression.
    public override init() {
        super.init()
    }
}
