import Foundation
import Testing

@testable import CoreDataToolKit

/// How wide the command takes the terminal to be.
struct TerminalWidthTests {
    /// A terminal of a width, of which no program is the reader.
    private final class Terminal {
        let descriptor: Int32

        init(columns: UInt16) throws {
            descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            try #require(descriptor >= 0)
            var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
            try #require(ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0)
        }

        deinit { close(descriptor) }
    }

    @Test func aTerminalIsAskedForItsWidth() throws {
        let terminal = try Terminal(columns: 93)
        #expect(TerminalWidth.columns(environment: [:], output: terminal.descriptor) == 93)
    }

    @Test func theEnvironmentSaysItInTheTerminalsPlace() throws {
        let terminal = try Terminal(columns: 93)
        #expect(TerminalWidth.columns(environment: ["COLUMNS": "60"], output: terminal.descriptor) == 60)
        #expect(TerminalWidth.columns(environment: ["COLUMNS": "wide"], output: terminal.descriptor) == 93)
    }

    @Test func whatHasNoWidthHas120Columns() throws {
        let terminal = try Terminal(columns: 0)
        #expect(TerminalWidth.columns(environment: [:], output: terminal.descriptor) == 120)
        let pipe = Pipe()
        #expect(TerminalWidth.columns(environment: [:], output: pipe.fileHandleForWriting.fileDescriptor) == 120)
        #expect(TerminalWidth.columns(environment: ["COLUMNS": "3"], output: -1) == 120)
    }
}
