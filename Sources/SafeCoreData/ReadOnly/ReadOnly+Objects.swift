// Views beside objects, for `#Predicate`s: `$0.author == view`. Predicates keep the IDs of what views show.

extension ReadOnly: PredicateIdentifiable {
    public var _predicateIdentity: (any Hashable & Sendable)? { id }
}

extension Optional {
    /// Whether a view is of an object; two times nil is equal.
    @_disfavoredOverload
    public static func == <Object>(object: Object?, view: Wrapped?) -> Bool where Wrapped == ReadOnly<Object> {
        object === view?.object
    }

    /// Whether a view is not of an object.
    @_disfavoredOverload
    public static func != <Object>(object: Object?, view: Wrapped?) -> Bool where Wrapped == ReadOnly<Object> {
        object !== view?.object
    }

    /// Whether a view is of an object; two times nil is equal.
    @_disfavoredOverload
    public static func == <Object>(view: Wrapped?, object: Object?) -> Bool where Wrapped == ReadOnly<Object> {
        object === view?.object
    }

    /// Whether a view is not of an object.
    @_disfavoredOverload
    public static func != <Object>(view: Wrapped?, object: Object?) -> Bool where Wrapped == ReadOnly<Object> {
        object !== view?.object
    }
}

extension Sequence {
    /// Whether one of the views is of an object; never true for nil.
    @_disfavoredOverload
    public func contains<Object>(_ object: Object?) -> Bool where Element == ReadOnly<Object> {
        object.map { object in contains { $0.object === object } } ?? false
    }
}
