import Foundation
import Testing

@testable import Localization

/// Runs a test on catalog files in a temporary folder.
func withCatalogs<Result>(
  _ files: [String: String], _ body: (String) throws -> Result
) throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  defer { try? FileManager.default.removeItem(at: folder) }
  for (path, text) in files {
    let file = folder.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }
  return try body(folder.path)
}

/// A header entry.
func header(_ language: String, _ plurals: String = "nplurals=2; plural=(n != 1);") -> String {
  """
  msgid ""
  msgstr ""
  "Language: \(language)\\n"
  "Plural-Forms: \(plurals)\\n"

  """
}

private let english =
  header("en") + """
    # A comment
    msgctxt "users.title"
    msgid "Users"
    msgstr ""

    #, python-brace-format
    msgctxt "users.count"
    msgid "{count} user of {project}"
    msgid_plural ""
    "{count} users "
    "of {project}"
    msgstr[0] ""
    msgstr[1] ""

    msgctxt "users.braces"
    msgid "\\"{{x}}\\"\\tand \\\\ {who}"
    msgstr ""

    msgctxt "users.bold"
    msgid "Is <strong>{name}</strong>"
    msgstr ""

    """

@Suite struct CatalogTests {
  private func catalog() throws -> Catalog {
    try withCatalogs(["users/messages.po": english]) { try Catalog(folder: $0) }
  }

  @Test func `a message is formatted with its arguments`() throws {
    let catalog = try catalog()
    #expect(catalog.text(Message("users.title")) == "Users")
    #expect(
      catalog.text(Message("users.braces", ["who": .text("<Ada>")])) == "\"{x}\"\tand \\ <Ada>")
    #expect(catalog.text(.verbatim("Users")) == "Users")
    #expect(catalog.text(.value(.number(3_918))) == "3,918")
    #expect(catalog.keys.count == 4)
    #expect(catalog.arguments(of: "users.count") == ["count", "project"])
  }

  @Test(arguments: [(1, "1 user of a"), (0, "0 users of a"), (48_210, "48,210 users of a")])
  func `the count chooses the plural form`(count: Int, text: String) throws {
    let message = Message("users.count", ["count": .number(count), "project": .text("a")])
    #expect(try catalog().text(message) == text)
    #expect(try catalog().pattern("users.count") == nil)
  }

  @Test func `in HTML, arguments are escaped and names are isolated`() throws {
    let catalog = try catalog()
    #expect(
      catalog.html(Message("users.bold", ["name": .name("<&>")]))
        == "Is <strong><bdi>&lt;&amp;&gt;</bdi></strong>")
    #expect(catalog.text(.value(.name("علی\u{202E}"))) == "\u{2068}علی\u{2069}")
    #expect(
      catalog.html(Message("users.bold", ["name": .name("\u{202E}Ada\u{2066}")]))
        == "Is <strong><bdi>Ada</bdi></strong>")
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
    (.message(Message("users.title")), "Users"),
  ])
  func `arguments are formatted`(value: Message.Value, text: String) throws {
    #expect(try catalog().text(.value(value)) == text)
  }

  @Test func `a translation has its own numbers, lists, and plural forms`() throws {
    let polish =
      header(
        "pl",
        "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);")
        + """
        msgctxt "users.count"
        msgid "{count} user of {project}"
        msgid_plural "{count} users of {project}"
        msgstr[0] "{count} użytkownik {project}"
        msgstr[1] "{count} użytkownicy {project}"
        msgstr[2] "{count} użytkowników {project}"

        """
    let files = ["users/messages.po": english, "users/messages.pl.po": polish]
    let catalogs = try withCatalogs(files) { try Catalog.installed(in: $0) }
    #expect(catalogs.map(\.locale) == ["en", "pl"])
    let texts = [1, 3, 12, 22, 12_345].map {
      catalogs[1].text(Message("users.count", ["count": .number($0), "project": .text("x")]))
    }
    #expect(
      texts == [
        "1 użytkownik x", "3 użytkownicy x", "12 użytkowników x", "22 użytkownicy x",
        "12\u{A0}345 użytkowników x",
      ])
    #expect(catalogs[1].text(Message("users.title")) == "Users")
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
    let catalog = Catalog(locale: "de", formats: Formats(locale: "de"), entries: [:])
    #expect(catalog.text(.value(value)) == text)
    #expect(catalog.html(.value(value)) == text)
  }

  @Test func `a message is fuzzy by any of its own lines of flags, and by no obsolete one's`()
    throws
  {
    let german =
      header("de") + """
        #, fuzzy
        #, python-brace-format
        msgctxt "users.bold"
        msgid "Is <strong>{name}</strong>"
        msgstr "Ist <strong>{name}</strong>"

        #, fuzzy
        #~ msgctxt "users.old"
        #~ msgid "Old"
        #~ msgstr "Alt"

        msgctxt "users.title"
        msgid "Users"
        msgstr "Nutzer"

        """
    let files = ["users/messages.po": english, "users/messages.de.po": german]
    let catalog = try #require(try withCatalogs(files) { try Catalog.installed(in: $0) }.last)
    let bold = Message("users.bold", ["name": .text("Ada")])
    #expect(catalog.html(bold) == "Is <strong>Ada</strong>")
    #expect(catalog.text(Message("users.title")) == "Nutzer")
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
    #expect(Catalog(locale: "he", formats: formats, entries: [:]).isRightToLeft)
    #expect(!Catalog.empty.isRightToLeft)
  }

  @Test(arguments: [
    ("msgctxt \"users.a\"\nmsgid \"A\"", "users/messages.po:6: “users.a” isn’t valid here"),
    ("msgid \"A\"\nmsgstr \"\"", "users/messages.po:6: “A” has no msgctxt"),
    ("msgctxt \"user.a\"\nmsgid \"A\"\nmsgstr \"\"", "users/messages.po:6: “user.a” doesn’t"),
    ("msgctxt \"users.a\"\nmsgid \"{a\"\nmsgstr \"\"", "users/messages.po:6: “{a” has a brace"),
    ("msgctxt \"users.a\"\nmsgid \"a}\"\nmsgstr \"\"", "users/messages.po:6: “a}” has a brace"),
    ("msgctxt \"users.a\"\nmsgid A\nmsgstr \"\"", "users/messages.po:7: “A” isn’t valid"),
    ("msgctxt \"users.a\"\nmsgid \"\\x\"", "users/messages.po:7: “\"\\x\"” isn’t valid"),
    ("msgctxt \"users.a\"\nmsgstr \"\"", "users/messages.po:7: “msgstr \"\"” isn’t valid"),
  ])
  func `an invalid file is rejected with its line number`(entry: String, expected: String) {
    let fault = #expect(throws: CatalogError.self) {
      try withCatalogs(["users/messages.po": header("en") + "\n" + entry + "\n"]) {
        try Catalog(folder: $0)
      }
    }
    #expect(fault?.description.hasPrefix(expected) == true, "\(fault?.description ?? "")")
  }

  @Test func `a catalog in a program is read like a file`() throws {
    let embedded = try Catalog(english: english, prefix: "users", file: "a.po")
    #expect(embedded.keys == (try catalog()).keys)
    let message = Message("users.count", ["count": .number(1), "project": .text("x")])
    #expect(embedded.text(message) == "1 user of x")
    let entry = "\nmsgctxt \"a.b\"\nmsgid \"A\"\nmsgstr \"\"\n"
    let twice = #expect(throws: CatalogError.self) {
      try Catalog(english: header("en") + entry + entry, prefix: "a", file: "a.po")
    }
    #expect(twice?.problem == .repeatedKey("a.b"))
    let foreign = #expect(throws: CatalogError.self) {
      try Catalog(english: header("en") + entry, prefix: "b", file: "a.po")
    }
    #expect(foreign?.problem == .foreignKey("a.b", folder: "b"))
  }

  @Test func `a catalog that can't be read is named with the reason`() throws {
    let missing = #expect(throws: CatalogError.self) { try Catalog(folder: "/nowhere/at/all") }
    #expect(missing?.description == "/nowhere/at/all can't be read: No such file or directory")
    try withCatalogs(["users/messages.po/x": ""]) { folder in
      let fault = #expect(throws: CatalogError.self) { try Catalog(folder: folder) }
      #expect(fault?.description == "\(folder)/users/messages.po can't be read: Is a directory")
      #expect(fault?.isTemporary == false)
    }
  }

  @Test func `a key is defined once`() {
    let entry = "\nmsgctxt \"a.b\"\nmsgid \"A\"\nmsgstr \"\"\n"
    let fault = #expect(throws: CatalogError.self) {
      try withCatalogs(["a/messages.po": header("en") + entry + entry]) {
        try Catalog(folder: $0)
      }
    }
    #expect(fault?.problem == .repeatedKey("a.b"))
  }

  @Test(arguments: [
    ("users.none", "X", "X", CatalogError.Problem.unknownKey("users.none")),
    ("users.title", "User", "X", .outdated("users.title")),
    ("users.title", "Users", "{x}", .differs("users.title")),
    ("users.bold", "Is <strong>{name}</strong>", "<b>{name}</b>", .differs("users.bold")),
    ("users.bold", "Is <strong>{name}</strong>", "<strong>x</strong>", .differs("users.bold")),
  ])
  func `a translation has the keys, arguments, and tags of English`(
    key: String, id: String, text: String, problem: CatalogError.Problem
  ) {
    let german =
      header("de") + "\nmsgctxt \"\(key)\"\nmsgid \"\(id)\"\nmsgstr \"\(text)\"\n"
    let files = ["users/messages.po": english, "users/messages.de.po": german]
    let fault = #expect(throws: CatalogError.self) {
      try withCatalogs(files) { try Catalog.installed(in: $0) }
    }
    #expect(fault?.problem == problem)
  }

  @Test func `a pseudo-locale changes text only`() throws {
    let pseudo = Catalog.pseudo(of: try catalog())
    #expect(pseudo.locale == "en-XA" && !pseudo.isRightToLeft)
    #expect(pseudo.text(Message("users.title")) == "⟦Ûûšééŕš⟧")
    #expect(
      pseudo.html(Message("users.bold", ["name": .text("Ada")]))
        == "⟦Îîš <strong>Ada</strong>·⟧")
    let link = Pattern(pieces: [
      .text("See <a href=\""), .argument("url"), .text("\" lang=\"en\">this</a>."),
    ])
    let linked = Catalog(
      locale: "en", formats: Formats(locale: "en"),
      entries: ["a.b": Catalog.Entry(forms: [link], plurals: nil)])
    #expect(
      Catalog.pseudo(of: linked).html(Message("a.b", ["url": .text("/x")]))
        == "⟦Šéééé <a href=\"/x\" lang=\"en\">ţĥîîš</a>.·⟧")
    let back = Catalog.pseudo(of: try catalog(), rightToLeft: true)
    #expect(back.isRightToLeft)
    #expect(back.text(Message("users.title")).contains("\u{202E}"))
  }

  @Test(arguments: [
    "Why", "TOTP", "Users", "A phrase of several words, which has few vowels: crypt, myrrh, rhythm",
    "Strengths (length of 12) <code>never</code> of <b>myths</b> &amp; rhythms",
  ])
  func `a text of a pseudo-locale is at least 40% longer`(text: String) throws {
    func visible(_ text: String) -> Int {
      text.replacing(/<code>.*?<\/code>|<[^>]*>|&[a-z]+;/, with: "").count
    }
    let english = Catalog(
      locale: "en", formats: Formats(locale: "en"),
      entries: [
        "a.b": Catalog.Entry(forms: [try Pattern(text)], plurals: nil),
        "a.dash": Catalog.Entry(forms: [try Pattern("–")], plurals: nil),
      ])
    for isRightToLeft in [false, true] {
      let pseudo = Catalog.pseudo(of: english, rightToLeft: isRightToLeft)
      let longer = pseudo.html(Message("a.b")).replacing(/[⟦⟧\u{202C}\u{202E}]/, with: "")
      #expect(visible(longer) * 10 >= visible(text) * 14, "\(longer)")
      #expect(pseudo.text(Message("a.dash")).contains("·") == false)
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
