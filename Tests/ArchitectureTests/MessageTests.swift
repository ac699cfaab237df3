import Foundation
import Templating
import Testing

/// Messages of the code and the templates, and the file from which they're translated.
struct MessageTests {
  /// The messages of the modules with text for people.
  static let code = Result {
    try SourceTree.files(
      in: "Sources/Console", "Sources/IdentityToolkitClient", "Sources/MailText",
      "Sources/countersign"
    ).map(MessageExtraction.init)
  }

  /// The messages of the templates.
  static let templates = Result {
    try TemplateLibrary(folder: SourceTree.root.appending(path: "Templates").path).messages.map {
      ExtractedMessage(
        file: "Templates/\($0.file)", line: $0.line, context: $0.context, text: $0.text,
        plural: $0.plural)
    }
  }

  @Test func `every message is a literal with the arguments of its text`() throws {
    let code = try Self.code.get()
    #expect(code.flatMap(\.breaches) == [])
    let messages = code.flatMap(\.messages)
    #expect(messages.count > 3_000)
    let breaches = messages.filter { $0.arguments != $0.names }
    #expect(
      breaches.map { "\($0.file):\($0.line): \($0.text) has \($0.arguments.sorted())" } == [])
  }

  /// Arguments that have a format of their own, such as durations, shares, and quoted names.
  private static let values: Set<String> = [
    "duration", "factor", "first", "goal", "idle", "interval", "length", "lifetime", "longest",
    "lower", "share", "side", "time", "untilBlock", "untilLocked", "upper", "wait",
  ]

  @Test func `no sentence is put together from messages`() throws {
    let messages = try Self.code.get().flatMap(\.messages)
    let breaches = messages.filter { !$0.joined.isSubset(of: Self.values) }
    #expect(breaches.map { "\($0.file):\($0.line): \($0.text)" } == [])
    let unused = Self.values.subtracting(messages.flatMap(\.composed))
    #expect(unused == [])
  }

  @Test(arguments: [
    ("{a} from {users}", false), ("Remove {a}?", false), ("Ask {a} first.", false),
    ("{users}, {a}.", false), ("Removed: 3 of {a}", false), ("Done. {a} can undo it.", false),
    ("Role: {a}.", true), ("{name} ({role}, {a})", true), ("“{a}” is on", true),
    ("Removed. {a} Ask again.", true), ("{a} {b}", true), ("{a}\n\nBy: {name}", true),
    ("{a} · Users", true), ("{b} → {a}", true), ("{a} (<b>{b}</b>)", true),
  ])
  func `a message is apart from the words around it, or joined with them`(
    text: String, isApart: Bool
  ) {
    #expect(ExtractedMessage.isApart("a", in: text) == isApart)
  }

  @Test func `a text has one plural`() throws {
    let messages = try Self.templates.get() + Self.code.get().flatMap(\.messages)
    let plurals = Dictionary(grouping: messages.filter { $0.plural != nil }, by: \.key)
    let breaches = plurals.filter { Set($0.value.map(\.plural)).count > 1 }
    #expect(breaches.keys.sorted() == [])
  }

  @Test func `chips begin with a lowercase letter`() throws {
    let chip = /Chip\.\w+\(\s*Message\(\s*"([^"]+)"/
    let texts = try SourceTree.files(in: "Sources/Console").flatMap { file in
      file.text.matches(of: chip).map { String($0.1) }
    }
    #expect(texts.count > 50)
    #expect(texts.filter { $0.first?.isUppercase ?? true } == [])
  }

  @Test func `the file for translators has every message`() throws {
    let path = SourceTree.root.appending(path: "Localizations/messages.pot")
    let messages = try Self.templates.get() + Self.code.get().flatMap(\.messages)
    let text = Self.file(of: messages)
    if ProcessInfo.processInfo.environment["COUNTERSIGN_RECORD_SNAPSHOTS"] == "1" {
      try text.write(to: path, atomically: true, encoding: .utf8)
      Issue.record("recorded messages.pot; run again without COUNTERSIGN_RECORD_SNAPSHOTS")
    }
    let isCurrent = try String(contentsOf: path, encoding: .utf8) == text
    #expect(isCurrent, "COUNTERSIGN_RECORD_SNAPSHOTS=1 updates it")
  }

  @Test func `messages are found with their arguments`() {
    let file = SourceFile(
      path: "Sources/Console/A.swift",
      text: #"""
        /// `Message("No comment")`
        // Translators: In a chart.
        let a = Message("A \"b\"\u{A0}\\ {{c}}")
        let c = Message(
          """
            Two \
          lines
          of text
          """,
          [
            "count": .number(text[0, "x"]), "inner": .message(Message("D", ["deep": .text("}")])),
          ], context: "e")
        let d = Message(one: "{count} f", other: "{count} fs", ["count": .number(2)])
        let e = Message(text)
        let f = OutboxMessage(text)
        """#)
    let found = MessageExtraction(file)
    #expect(
      found.messages.map(\.text) == [
        "A \"b\"\u{A0}\\ {{c}}", "  Two lines\nof text", "D", "{count} f",
      ])
    #expect(found.messages.map(\.arguments) == [[], ["count", "inner"], ["deep"], ["count"]])
    #expect(found.messages.map(\.composed) == [[], ["inner"], [], []])
    #expect(found.messages.map(\.context) == [nil, "e", nil, nil])
    #expect(found.messages.map(\.line) == [3, 4, 11, 13])
    #expect(found.messages[0].comment == "In a chart.")
    #expect(found.messages[3].plural == "{count} fs")
    #expect(found.messages[3].names == ["count"] && found.messages[0].names == [])
    #expect(found.breaches.count == 1)
  }

  /// The messages in gettext's format, each once.
  private static func file(of messages: [ExtractedMessage]) -> String {
    var order: [String] = []
    var merged: [String: ExtractedMessage] = [:]
    for message in messages {
      guard let known = merged[message.key] else {
        order.append(message.key)
        merged[message.key] = message
        continue
      }
      merged[message.key]?.plural = known.plural ?? message.plural
      merged[message.key]?.comment = known.comment ?? message.comment
    }
    let header = """
      msgid ""
      msgstr ""
      "Language: en\\n"
      "MIME-Version: 1.0\\n"
      "Content-Type: text/plain; charset=UTF-8\\n"
      "Content-Transfer-Encoding: 8bit\\n"
      "Plural-Forms: nplurals=2; plural=(n != 1);\\n"

      """
    return order.reduce(into: header) { text, key in
      guard let message = merged[key] else { return }
      text += "\n"
      if let comment = message.comment { text += "#. \(comment)\n" }
      text += "#: \(message.file)\n"
      if !message.names.isEmpty { text += "#, python-brace-format\n" }
      if let context = message.context { text += "msgctxt \(quoted(context))\n" }
      text += "msgid \(quoted(message.text))\n"
      if let plural = message.plural {
        text += "msgid_plural \(quoted(plural))\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n"
      } else {
        text += "msgstr \"\"\n"
      }
    }
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n").replacing("\t", with: "\\t")
    return "\"\(escaped)\""
  }
}

extension ExtractedMessage {
  var key: String { "\(context ?? "")\u{4}\(text)" }
}
