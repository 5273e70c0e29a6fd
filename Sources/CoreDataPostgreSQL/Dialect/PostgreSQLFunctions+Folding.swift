import CoreData

// Functions that change letters, by the rules of Foundation.
extension PostgreSQLFunctions {
    static var foldings: [String] {
        [
            expression("ocd_upper(t text)", "text", #"upper(t COLLATE "und-x-icu")"#),
            // ICU gives another letter for the last sigma of a word.
            expression("ocd_lower(t text)", "text", #"lower(translate(t, 'Σ', 'σ') COLLATE "und-x-icu")"#),
            // A text without the differences that the options ignore: 1 for case, 2 for diacritics.
            // The result is decomposed.
            function(
                "\(folding)(t text, options integer)", "text",
                """
                DECLARE
                    swapped boolean := false;
                    pair text[];
                BEGIN
                    IF octet_length(t) = length(t) THEN
                        RETURN CASE WHEN options & 1 = 1 THEN lower(t COLLATE "C") ELSE t END;
                    END IF;
                    IF options & 2 = 2 THEN
                        IF t COLLATE "C" ~ '[\(symbols)]' THEN
                            t := translate(t, '\(symbols)', '\(standIns)');
                            swapped := true;
                        END IF;
                        t := normalize(t, NFD);
                        \(withoutMarks)
                        IF swapped THEN t := translate(t, '\(standIns)', '\(symbols)'); END IF;
                    END IF;
                    IF options & 1 = 1 THEN
                        \(withoutCase)
                    END IF;
                    RETURN normalize(t, NFD);
                END
                """),
            expression("ocd_compose(t text, options integer)", "text", "normalize(ocd_fold(t, options), NFC)"),
            // A text without diacritics. Letters that keep their marks stay composed or decomposed.
            function(
                "ocd_unmarked(t text)", "text",
                """
                BEGIN
                    IF octet_length(t) = length(t) THEN RETURN t; END IF;
                    \(decomposedWithoutMarks)
                    RETURN t;
                END
                """),
            // A text without diacritics and case, as `canonical:` gives it. Triggers call it, so it
            // calls no function that their callers may not find.
            function(
                "ocd_canonical(t text)", "text",
                """
                DECLARE
                    pair text[];
                BEGIN
                    IF octet_length(t) = length(t) THEN RETURN lower(t COLLATE "C"); END IF;
                    \(decomposedWithoutMarks)
                    \(withoutCase)
                    RETURN t;
                END
                """),
        ]
    }

    // MARK: Marks

    /// Composed letters whose marks are removed, as parts of a bracket expression.
    private static let letters = #"\u00C0-\u024F\u0370-\u0482\u048A-\u050F\u1E00-\u1FFF\u212A\u212B\u2260\u226E\u226F"#

    /// Composed symbols that keep their strokes and accents.
    private static let symbols =
        "\u{1fcd}\u{1fce}\u{1fcf}\u{1fdd}\u{1fde}\u{1fdf}\u{219a}\u{219b}\u{21ae}\u{21cd}\u{21ce}\u{21cf}"
        + "\u{2204}\u{2209}\u{220c}\u{2224}\u{2226}\u{2241}\u{2244}\u{2247}\u{2249}\u{2262}\u{226d}\u{2270}"
        + "\u{2271}\u{2274}\u{2275}\u{2278}\u{2279}\u{2280}\u{2281}\u{2284}\u{2285}\u{2288}\u{2289}\u{22ac}"
        + "\u{22ad}\u{22ae}\u{22af}\u{22e0}\u{22e1}\u{22e2}\u{22e3}\u{22ea}\u{22eb}\u{22ec}\u{22ed}\u{2adc}"

    /// Code points that replace the symbols while texts are decomposed. There are as many as
    /// symbols. They are no characters, and so in no text.
    private static let standIns: String = {
        let last = (1...8).flatMap { plane in [UInt32(plane) << 16 | 0xfffe, UInt32(plane) << 16 | 0xffff] }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: (Array(0xfdd0...0xfdef) + last).compactMap(Unicode.Scalar.init))
        return String(scalars)
    }()

    /// Removes marks. The first character of a text counts as a letter.
    private static var withoutMarks: String {
        let common = #"\u0300-\u036F\u0483-\u0489"#
        let letter = #"(^[\u0001-\u050F]|[\u0001-\u02FF\u0370-\u0482\u048A-\u050F])"#
        return #"t := regexp_replace(t COLLATE "C", '\#(letter)[\#(common + marks)]+', '\1', 'g'); "#
            + #"t := left(t, 1) || regexp_replace(substr(t, 2) COLLATE "C", '[\#(common)]+', '', 'g');"#
    }

    /// Decomposes the letters that lose their marks, and removes the marks.
    private static var decomposedWithoutMarks: String {
        """
        SELECT string_agg(CASE WHEN c ~ '[\(letters)]' AND c !~ '[\(symbols)]' THEN normalize(c, NFD) ELSE c END, '' \
        ORDER BY i)
            INTO t FROM (SELECT c COLLATE "C" AS c, i FROM unnest(string_to_array(t, NULL)) WITH ORDINALITY AS u (c, \
        i)) AS parts;
        \(withoutMarks)
        """
    }

    // MARK: Case

    private static let foldedLetters: (from: String, to: String) = (
        "\u{b5}\u{17f}\u{345}\u{3c2}\u{3d0}\u{3d1}\u{3d5}\u{3d6}\u{3f0}\u{3f1}\u{3f5}",
        "\u{3bc}s\u{3b9}\u{3c3}\u{3b2}\u{3b8}\u{3c6}\u{3c0}\u{3ba}\u{3c1}\u{3b5}"
    )

    /// Letters that fold to several letters.
    private static let unfoldedLetters: [(String, String)] =
        [
            ("\u{df}", "ss"), ("\u{149}", "\u{2bc}n"), ("\u{587}", "\u{565}\u{582}"), ("\u{1e9a}", "a\u{2be}"),
            ("\u{1e9b}", "s\u{307}"),
            ("\u{fb00}", "ff"), ("\u{fb01}", "fi"), ("\u{fb02}", "fl"), ("\u{fb03}", "ffi"), ("\u{fb04}", "ffl"),
            ("\u{fb05}", "st"),
            ("\u{fb06}", "st"), ("\u{fb13}", "\u{574}\u{576}"), ("\u{fb14}", "\u{574}\u{565}"),
            ("\u{fb15}", "\u{574}\u{56b}"),
            ("\u{fb16}", "\u{57e}\u{576}"), ("\u{fb17}", "\u{574}\u{56d}"),
        ] + greekLetters

    /// Greek letters with an iota below, which becomes a letter. The letter before the iota is at a
    /// fixed distance.
    private static var greekLetters: [(String, String)] {
        func pair(_ composed: UInt32, _ letter: UInt32) -> (String, String)? {
            guard let composed = Unicode.Scalar(composed), let letter = Unicode.Scalar(letter) else { return nil }
            return (String(composed), String(letter) + "\u{3b9}")
        }
        let rows: [(UInt32, UInt32)] = [(0x1f80, 0x1f00), (0x1f90, 0x1f20), (0x1fa0, 0x1f60)]
        let others: [(UInt32, UInt32)] = [
            (0x1fb2, 0x1f70), (0x1fb3, 0x3b1), (0x1fb4, 0x3ac), (0x1fb7, 0x1fb6), (0x1fc2, 0x1f74), (0x1fc3, 0x3b7),
            (0x1fc4, 0x3ae),
            (0x1fc7, 0x1fc6), (0x1ff2, 0x1f7c), (0x1ff3, 0x3c9), (0x1ff4, 0x3ce), (0x1ff7, 0x1ff6),
        ]
        return rows.flatMap { row in (0..<8).compactMap { pair(row.0 + $0, row.1 + $0) } }
            + others.compactMap { pair($0.0, $0.1) }
    }

    /// Folds case as Unicode does, which is more than lower case.
    private static var withoutCase: String {
        let pairs = unfoldedLetters.map { "['\($0.0)', '\($0.1)']" }.joined(separator: ", ")
        return """
            t := translate(lower(t COLLATE "und-x-icu"), '\(foldedLetters.from)', '\(foldedLetters.to)');
            IF t COLLATE "C" ~ '[\(unfoldedLetters.map(\.0).joined())]' THEN
                FOREACH pair SLICE 1 IN ARRAY ARRAY[\(pairs)] LOOP t := replace(t, pair[1], pair[2]); END LOOP;
            END IF;
            """
    }
}
