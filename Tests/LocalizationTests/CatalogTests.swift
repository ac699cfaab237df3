import Foundation
import Testing

@testable import Localization

/// Runs a test on the translations in files of a temporary folder, with the messages of the tests.
func withTranslations<Result>(
  _ files: [String: String], _ body: (String) throws -> Result
) throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  defer { try? FileManager.default.removeItem(at: folder) }
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  for (path, text) in files.merging(
    ["messages.pot": messages], uniquingKeysWith: { first, _ in first })
  {
    try Data(text.utf8).write(to: folder.appending(path: path))
  }
  return try body(folder.path)
}

/// A header entry.
func header(_ plurals: String = "nplurals=2; plural=(n != 1);") -> String {
  """
  msgid ""
  msgstr ""
  "Plural-Forms: \(plurals)\\n"

  """
}

private let messages =
  header() + """
    # A comment
    msgid "Users"
    msgstr ""

    #, python-brace-format
    msgid "{count} user of {project}"
    msgid_plural ""
    "{count} users "
    "of {project}"
    msgstr[0] ""
    msgstr[1] ""

    msgctxt "menu"
    msgid "Users"
    msgstr ""

    #, python-brace-format
    msgid "Is <strong>{name}</strong>"
    msgstr ""

    """

@Suite struct CatalogTests {
  private static func users(_ count: Int) -> Message {
    Message(
      one: "{count} user of {project}", other: "{count} users of {project}",
      ["count": .number(count), "project": .text("a")])
  }

  private static let bold = Message("Is <strong>{name}</strong>", ["name": .name("<&>")])

  @Test func `a message is formatted with its arguments`() {
    let catalog = Catalog.english
    #expect(catalog.text(Message("Users")) == "Users")
    #expect(
      catalog.text(Message("\"{{x}}\"\tand \\ {who}", ["who": .text("<Ada>")]))
        == "\"{x}\"\tand \\ <Ada>")
    #expect(catalog.text(Message("{{x}}")) == "{x}")
    #expect(catalog.text(.verbatim("Users")) == "Users")
    #expect(catalog.text(.value(.number(3_918))) == "3,918")
  }

  @Test(arguments: [(1, "1 user of a"), (0, "0 users of a"), (48_210, "48,210 users of a")])
  func `the count chooses the plural form`(count: Int, text: String) {
    #expect(Catalog.english.text(Self.users(count)) == text)
  }

  @Test func `messages are equal if their texts and arguments are`() {
    #expect(Message("Users") == Message("Users") && Message("Users") != Message("User"))
    #expect(Message("Users") != Message("Users", context: "menu"))
    #expect(Self.users(1) == Self.users(1) && Self.users(1) != Self.users(2))
    #expect(Set([Message("Users"), Message("Users"), Self.bold, Self.bold]).count == 2)
  }

  @Test func `in HTML, arguments are escaped and names are isolated`() {
    let catalog = Catalog.english
    #expect(catalog.html(Self.bold) == "Is <strong><bdi>&lt;&amp;&gt;</bdi></strong>")
    #expect(catalog.text(.value(.name("علی\u{202E}"))) == "\u{2068}علی\u{2069}")
    #expect(
      catalog.html(
        Message("Is <strong>{name}</strong>", ["name": .name("\u{202E}Ada\u{2066}")]))
        == "Is <strong><bdi>Ada</bdi></strong>")
  }

  @Test func `values and names are escaped, and texts aren't`() {
    let catalog = Catalog.english.escaping { $0.replacing("\u{1B}", with: "?") }
    #expect(catalog.text(Message("\u{1B}{a}", ["a": .text("\u{1B}")])) == "\u{1B}?")
    #expect(catalog.text(.verbatim("\u{1B}")) == "?")
  }

  @Test(arguments: [
    ("Ada", "Ada"), ("“Ada”", "“Ada”"),
    ("\u{202E}Ada\u{202C} Bo", "Ada Bo"),
    ("Ada\u{2066} Bo", "Ada Bo"), ("Ada\u{2069} Bo", "Ada Bo"),
    ("by \u{2068}علی\u{2069}", "by \u{2068}علی\u{2069}"),
    ("\u{2067}a\u{2068}b\u{2069}", "a\u{2068}b\u{2069}"),
  ])
  func `direction controls have no effect after a contained text`(text: String, expected: String) {
    #expect(Isolation.contained(text) == expected)
  }

  @Test(arguments: [
    (Message.Value.names(["Ada", "Bo"]), "Ada and Bo"),
    (.names(["Ada", "Bo", "Cy"]), "Ada, Bo, and Cy"), (.names(["Ada"]), "Ada"),
    (.list([.verbatim("x"), .value(.number(1_000))]), "x and 1,000"),
    (.percent(0.855), "85%"), (.percent(0.29), "29%"), (.percent(1), "100%"),
    (.number(999), "999"), (.number(-1_234), "-1,234"),
    (.signed(-1_234), "−1,234"), (.signed(0), "0"), (.signed(5), "+5"),
    (.decimal(21_000, places: 1), "2,100.0"), (.decimal(3, places: 1), "0.3"),
    (.percentage(9_990, places: 2), "99.9%"), (.percentage(55, places: 4), "0.0055%"),
    (.percentage(5, places: 8), "0.00000005%"), (.percentage(10_000, places: 2), "100%"),
    (.choice([.verbatim("a"), .verbatim("b"), .verbatim("c")]), "a, b, or c"),
    (.sequence([.verbatim("a"), .verbatim("b"), .verbatim("c")]), "a, b, c"),
    (.date(LocalDate(year: 2026, month: 11, day: 21)), "Nov 21, 2026"),
    (
      .time(
        LocalTime(LocalDate(year: 2026, month: 2, day: 3), hour: 9, minute: 5, zone: "UTC+1")),
      "Feb 3, 2026, 09:05\u{00A0}UTC+1"
    ),
    (.message(Message("Users")), "Users"),
  ])
  func `arguments are formatted`(value: Message.Value, text: String) {
    #expect(Catalog.english.text(.value(value)) == text)
  }

  @Test func `a translation has its own numbers, lists, and plural forms`() throws {
    let polish =
      header(
        "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);")
        + """
        msgid "{count} user of {project}"
        msgid_plural "{count} users of {project}"
        msgstr[0] "{count} użytkownik {project}"
        msgstr[1] "{count} użytkownicy {project}"
        msgstr[2] "{count} użytkowników {project}"

        msgctxt "menu"
        msgid "Users"
        msgstr "Użytkownicy"

        """
    let catalogs = try withTranslations(["pl.po": polish]) { Translations(folder: $0).catalogs }
    #expect(catalogs.map(\.locale) == ["en", "pl"])
    #expect(
      [1, 3, 12, 22, 12_345].map { catalogs[1].text(Self.users($0)) } == [
        "1 użytkownik a", "3 użytkownicy a", "12 użytkowników a", "22 użytkownicy a",
        "12\u{A0}345 użytkowników a",
      ])
    #expect(catalogs[1].text(Message("Users")) == "Users")
    #expect(catalogs[1].text(Message("Users", context: "menu")) == "Użytkownicy")
    // As in gettext, a text without a plural is the form for 1.
    let one = Message(
      "{count} user of {project}", ["count": .number(5), "project": .text("a")])
    #expect(catalogs[1].text(one) == "5 użytkownik a")
    let values: [Message.Value] = [
      .decimal(123_450, places: 1), .percentage(9_995, places: 2), .percentage(55, places: 4),
    ]
    #expect(values.map { catalogs[1].text(.value($0)) } == ["12\u{A0}345,0", "99,95%", "0,0055%"])
  }

  @Test(arguments: [
    (Message.Value.decimal(21_000, places: 1), "2.100,0"), (.decimal(3, places: 1), "0,3"),
    (.percentage(9_990, places: 2), "99,9\u{A0}%"),
    (.percentage(5, places: 8), "0,00000005\u{A0}%"),
    (.signed(-1_234), "−1.234"), (.signed(7), "+7"),
  ])
  func `decimal places, percentages, and signs follow the locale`(
    value: Message.Value, text: String
  ) {
    let catalog = Catalog(locale: "de", formats: Formats(locale: "de"))
    #expect(catalog.text(.value(value)) == text)
    #expect(catalog.html(.value(value)) == text)
  }

  @Test func `a message is fuzzy by any of its own lines of flags, and by no obsolete one's`()
    throws
  {
    let german =
      header() + """
        #, fuzzy
        #, python-brace-format
        msgid "Is <strong>{name}</strong>"
        msgstr "Ist <strong>{name}</strong>"

        #, fuzzy
        #~ msgid "Old"
        #~ msgstr "Alt"

        msgid "Users"
        msgstr "Nutzer"

        """
    let translations = try withTranslations(["de.po": german]) { Translations(folder: $0) }
    let catalog = translations.catalogs[1]
    #expect(catalog.html(Self.bold) == "Is <strong><bdi>&lt;&amp;&gt;</bdi></strong>")
    #expect(catalog.text(Message("Users")) == "Nutzer")
    guard case .incomplete(_, let gaps)? = translations.warnings.first else {
      Issue.record("no warning")
      return
    }
    #expect(gaps == Translations.Gaps(missing: 2, fuzzy: 1))
  }

  @Test(arguments: [
    ("Is <strong>{name}</strong>", "<b>{name}</b>"),
    ("Is <strong>{name}</strong>", "<strong>x</strong>"),
    ("Users", "{x}"), ("Users", "a}"),
  ])
  func `a translation without the arguments and tags of the text isn't used`(
    id: String, text: String
  ) throws {
    let german = header() + "\nmsgid \"\(id)\"\nmsgstr \"\(text)\"\n"
    try withTranslations(["de.po": german]) { folder in
      let translations = Translations(folder: folder)
      #expect(translations.catalogs[1].text(Message("Users")) == "Users")
      #expect(
        translations.warnings == [
          .incomplete(
            file: "\(folder)/de.po", Translations.Gaps(missing: 3, differing: 1))
        ])
    }
  }

  @Test func `an unknown message, and a file that's invalid or unreadable, is a warning`() throws {
    let unknown = header() + "\nmsgid \"User\"\nmsgstr \"Nutzer\"\n"
    try withTranslations(["de.po": unknown, "fr.po": "msgid x\n", "pt_BR.po": header()]) { folder in
      try FileManager.default.createDirectory(
        atPath: "\(folder)/it.po", withIntermediateDirectories: true)
      let translations = Translations(folder: folder)
      #expect(translations.catalogs.map(\.locale) == ["en", "de", "pt-BR"])
      #expect(translations.warnings.count == 4)
      #expect(
        translations.warnings.first
          == .incomplete(file: "\(folder)/de.po", Translations.Gaps(missing: 4, unknown: 1)))
      guard case .unusable(let error) = translations.warnings[1] else {
        Issue.record("\(translations.warnings)")
        return
      }
      #expect(error.description == "\(folder)/fr.po:1: “x” isn’t valid here")
    }
    let none = Translations(folder: "/nowhere/at/all")
    #expect(none.catalogs.map(\.locale) == ["en"] && none.warnings == [])
  }

  @Test(arguments: [
    ("de", "3. Feb. 2026, 09:05 UTC"), ("ja", "2026年2月3日 9:05 UTC"),
    ("fr", "3 févr. 2026, 09:05 UTC"), ("pt-BR", "3 de fev. de 2026, 09:05 UTC"),
    ("fa", "۳ فوریه ۲۰۲۶، ۹:۰۵ UTC"), ("cs", "3. 2. 2026 9:05 UTC"),
  ])
  func `a time is formatted for its locale`(locale: String, text: String) {
    let time = LocalTime(LocalDate(year: 2026, month: 2, day: 3), hour: 9, minute: 5, zone: "UTC")
    // Some locales don't break the line within a date.
    let formatted = Formats(locale: locale).time(time)
    #expect(formatted.hasSuffix("\u{A0}UTC"))
    #expect(String(formatted.map { $0.isWhitespace ? " " : $0 }) == text)
  }

  @Test(arguments: [
    ("en", "Tue, Feb 3, 2026, 09:05:07 UTC"), ("de", "Di. 3. Feb. 2026, 09:05:07 UTC"),
    ("ja", "2026年2月3日(火) 9:05:07 UTC"), ("fr", "mar. 3 févr. 2026, 09:05:07 UTC"),
    ("cs", "út 3. 2. 2026 9:05:07 UTC"), ("fa", "سه\u{200C}شنبه ۳ فوریه ۲۰۲۶، ۹:۰۵:۰۷ UTC"),
  ])
  func `a full time has the day of the week and seconds`(locale: String, text: String) {
    let time = LocalTime(
      LocalDate(year: 2026, month: 2, day: 3), hour: 9, minute: 5, second: 7, zone: "UTC")
    let formatted = Formats(locale: locale).time(time, .full)
    #expect(String(formatted.map { $0.isWhitespace ? " " : $0 }) == text)
    #expect(!formatted.contains { "\"&<>".contains($0) })
  }

  @Test(arguments: [
    (1600, 2, 29, 2), (1970, 1, 1, 4), (2000, 2, 29, 2), (2026, 11, 29, 7), (2026, 11, 30, 1),
    (2100, 3, 1, 1),
  ])
  func `a date has a day of the week`(year: Int, month: Int, day: Int, weekday: Int) {
    #expect(LocalDate(year: year, month: month, day: day).weekday == weekday)
  }

  @Test func `the script sets the direction`() {
    let formats = Formats(locale: "he")
    #expect(Catalog(locale: "he", formats: formats).isRightToLeft)
    #expect(!Catalog.english.isRightToLeft)
  }

  @Test(arguments: [
    ("msgid \"A\"", "6: “A” isn’t valid here"),
    ("msgid A\nmsgstr \"\"", "6: “A” isn’t valid"),
    ("msgid \"\\x\"", "6: “\"\\x\"” isn’t valid"),
    ("msgctxt \"a\"\nmsgstr \"\"", "7: “msgstr \"\"” isn’t valid"),
  ])
  func `an invalid file is rejected with its line number`(entry: String, expected: String) {
    let fault = #expect(throws: CatalogError.self) {
      try POFile(header() + "\n\n" + entry + "\n", file: "de.po")
    }
    #expect(
      fault?.description.hasPrefix("de.po:\(expected)") == true, "\(fault?.description ?? "")")
  }

  @Test func `a pseudo-locale changes text only`() {
    let pseudo = Catalog.pseudo()
    #expect(pseudo.locale == "en-XA" && !pseudo.isRightToLeft)
    #expect(pseudo.text(Message("Users")) == "⟦Ûûšééŕš⟧")
    #expect(
      pseudo.html(Message("Is <strong>{name}</strong>", ["name": .text("Ada")]))
        == "⟦Îîš <strong>Ada</strong>·⟧")
    #expect(
      pseudo.html(Message("See <a href=\"{url}\" lang=\"en\">this</a>.", ["url": .text("/x")]))
        == "⟦Šéééé <a href=\"/x\" lang=\"en\">ţĥîîš</a>.·⟧")
    let back = Catalog.pseudo(rightToLeft: true)
    #expect(back.isRightToLeft)
    #expect(back.text(Message("Users")).contains("\u{202E}"))
  }

  @Test(arguments: [
    "Why", "TOTP", "Users", "A phrase of several words, which has few vowels: crypt, myrrh, rhythm",
    "Strengths (length of 12) <code>never</code> of <b>myths</b> &amp; rhythms",
  ])
  func `a text of a pseudo-locale is at least 40% longer`(text: String) throws {
    func visible(_ text: String) -> Int {
      text.replacing(/<code>.*?<\/code>|<[^>]*>|&[a-z]+;/, with: "").count
    }
    for isRightToLeft in [false, true] {
      let pseudo = Catalog.pseudo(rightToLeft: isRightToLeft)
      let form = try #require(try pseudo.forms(text, plural: nil, in: nil).patterns.first)
      let longer = form.text.replacing(/[⟦⟧\u{202C}\u{202E}]/, with: "")
      #expect(visible(longer) * 10 >= visible(text) * 14, "\(longer)")
      #expect(pseudo.text(Message("–")).contains("·") == false)
    }
  }
}

@Suite struct PluralRuleTests {
  @Test(arguments: [
    ("nplurals=1; plural=0;", [0, 0, 0, 0, 0]),
    ("nplurals=2; plural=(n != 1);", [1, 0, 1, 1, 1]),
    ("nplurals=2; plural=n>1", [0, 0, 1, 1, 1]),
    (
      "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);",
      [0, 1, 2, 3, 4]
    ),
    ("nplurals=2; plural=!(n==1 || n+1==3)*1;", [1, 0, 0, 1, 1]),
  ])
  func `the expression chooses a form`(header: String, forms: [Int]) throws {
    let rule = try PluralRule(header: header)
    #expect([0, 1, 2, 3, 11].map(rule.form) == forms)
  }

  @Test(arguments: [
    "", "nplurals=2", "nplurals=0; plural=0;", "nplurals=2; plural=m;", "nplurals=2; plural=(n;",
    "nplurals=2; plural=n;", "nplurals=2; plural=n?1;", "nplurals=2; plural=n n;",
  ])
  func `an invalid rule is rejected`(header: String) {
    #expect(throws: CatalogError.Problem.self) { try PluralRule(header: header) }
  }
}

@Suite struct LanguagePreferencesTests {
  @Test(arguments: [
    ("", "en"), ("de", "de"), ("DE-at", "de"), ("pt", "pt-BR"), ("fr-CH, de;q=0.9, en;q=0.8", "de"),
    ("en;q=0.5, pt-br;q=0.7", "pt-BR"), ("de;q=0, pt;q=0.1", "pt-BR"), ("*", "en"), ("fr, *", "en"),
    (",;q=1,;;,=", "en"), ("de;q=x", "en"), ("zh-Hant-TW, de-Latn-DE", "de"),
  ])
  func `the best installed locale is chosen`(field: String, locale: String) {
    let locales = ["en", "de", "pt-BR"]
    #expect(locales[LanguagePreferences(field).best(among: locales)] == locale)
  }
}
