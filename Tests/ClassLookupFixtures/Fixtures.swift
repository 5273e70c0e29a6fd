// Classes of another module than the tests', for the tests of class lookup.

open class FixtureBase {
    public init() {}
    open var title: String { "base" }
}

/// There is a class of this name in the tests' module as well.
public class SharedName: FixtureBase {}

/// Only this module has a class of this name.
public class OnlyInFixtures: FixtureBase {}

open class GenericBase<Element>: FixtureBase {
    public class InsideGeneric: FixtureBase {}
}

public enum OuterFixture {
    public class Nested: FixtureBase {}
}

/// A record that the deinitializers write.
public final class Log {
    public var lines: [String] = []
    public init() {}
}

/// A class whose objects become instances of subclasses.
open class Animal {
    public let log: Log
    public var name: String

    @inline(never)
    public init(log: Log, name: String) {
        self.log = log
        self.name = name
    }

    open func sound() -> String { "\(name) is silent" }
    deinit { log.lines.append("Animal \(name)") }
}
