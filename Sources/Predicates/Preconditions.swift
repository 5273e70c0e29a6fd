// In optimized builds, the standard library's `precondition` and `preconditionFailure` do not print
// their messages: a program that stops says only "Fatal error". This package's messages name the
// entity, property or format that is wrong, and are printed in every build. These functions shadow
// the standard ones in all modules that import this one.

/// Stops the program with a message, in every build, unless a condition holds.
@inlinable
@inline(__always)
package func precondition(
    _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String = "A precondition does not hold.",
    file: StaticString = #file, line: UInt = #line
) {
    if !condition() { preconditionFailure(message(), file: file, line: line) }
}

/// Stops the program with a message, in every build.
@usableFromInline
@inline(never)
package func preconditionFailure(
    _ message: @autoclosure () -> String = "A precondition does not hold.", file: StaticString = #file,
    line: UInt = #line
) -> Never {
    fatalError(message(), file: file, line: line)
}
