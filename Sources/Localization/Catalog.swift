import Foundation
public import Host
import Text

/// The messages of one locale.
///
/// English texts are in the code and the templates; a translation has texts that replace them.
public final class Catalog: Sendable {
  /// The translation of a message: a text for each plural form, or one.
  struct Entry: Sendable {
    let forms: [Pattern]
    /// The rule that chooses the form; nil for a message without plural forms.
    let plurals: PluralRule?
  }

  /// The locale as a BCP 47 tag, such as `en` or `pt-BR`.
  public let locale: String
  /// Whether the locale's script is written from right to left.
  public let isRightToLeft: Bool
  /// The translations by ``key(_:in:)``; none for English.
  let entries: [String: Entry]
  let formats: Formats
  /// What changes the English texts, for a pseudo-locale.
  private let change: (@Sendable (Pattern) -> Pattern)?
  /// What replaces values and texts that aren't translated, in plain text.
  private let escape: (@Sendable (String) -> String)?

  init(
    locale: String, formats: Formats, entries: [String: Entry] = [:],
    change: (@Sendable (Pattern) -> Pattern)? = nil, escape: (@Sendable (String) -> String)? = nil
  ) {
    self.locale = locale
    self.formats = formats
    self.entries = entries
    self.change = change
    self.escape = escape
    isRightToLeft =
      Locale.Language(identifier: locale).characterDirection == .rightToLeft
  }

  /// The texts of the code and the templates.
  public static let english = Catalog(locale: "en", formats: Formats(locale: "en"))

  /// Returns the same catalog with values and untranslated texts replaced in plain text.
  public func escaping(_ escape: @escaping @Sendable (String) -> String) -> Catalog {
    Catalog(locale: locale, formats: formats, entries: entries, change: change, escape: escape)
  }

  /// Returns the key of a message in ``entries``, as in gettext's files.
  static func key(_ text: String, in context: String?) -> String {
    context.map { "\($0)\u{4}\(text)" } ?? text
  }

  /// Returns a message as plain text.
  public func text(_ message: Message) -> String {
    switch message.content {
    case .verbatim(let text): escaped(text)
    case .value(let value): text(of: value)
    case .plain(let text): plain(text)
    case .composed(let message): filled(message) { self.text(of: $0) }
    }
  }

  /// Returns a message as HTML: its text as it is, and the arguments escaped.
  public func html(_ message: Message) -> String {
    switch message.content {
    case .verbatim(let text): text.escapedForHTML
    case .value(let value): html(of: value)
    case .plain(let text): plain(text)
    case .composed(let message): filled(message) { self.html(of: $0) }
    }
  }

  /// Appends a date in UTF-8.
  public func append(_ date: LocalDate, to bytes: inout [UInt8]) {
    formats.append(date, to: &bytes)
  }

  /// Appends a date and time with its time zone in UTF-8.
  public func append(
    _ time: LocalTime, _ form: LocalTime.Form = .minute, to bytes: inout [UInt8]
  ) {
    formats.append(time, form, to: &bytes)
  }

  /// Whether each text is English as written.
  private var isEnglish: Bool { entries.isEmpty && change == nil }

  private func plain(_ text: StaticString) -> String {
    let text = text.description
    if isEnglish, !text.utf8.contains(where: Pattern.isBrace) { return text }
    return pattern(text, plural: nil, in: nil, count: nil).text
  }

  private func filled(_ message: Message.Composed, format: (Message.Value) -> String) -> String {
    var count: Int?
    if message.plural != nil {
      if case .number(let number) = message.value(of: "count") { count = number }
      assert(count != nil, "“\(message.text)” needs a number “count”")
    }
    func value(of name: Substring) -> String {
      guard let value = message.value(of: name) else {
        assertionFailure("“\(message.text)” needs an argument “\(name)”")
        return "{\(name)}"
      }
      return format(value)
    }
    var result = ""
    if isEnglish {
      let isOther = count.map { $0.magnitude != 1 } ?? false
      let text = (isOther ? message.plural : nil) ?? message.text
      let isValid = Pattern.read(text.description) { piece in
        switch piece {
        case .text(let text): result += text
        case .argument(let name): result += value(of: name)
        }
      }
      assert(isValid, "“\(text)” has a brace outside an argument")
      return result
    }
    let pattern = pattern(
      message.text.description, plural: message.plural?.description,
      in: message.context?.description, count: count)
    for piece in pattern.pieces {
      switch piece {
      case .text(let text): result += text
      case .argument(let name): result += value(of: name[...])
      }
    }
    return result
  }

  /// Returns the text for a number, in English if it isn't translated, with its arguments' places.
  private func pattern(
    _ text: String, plural: String?, in context: String?, count: Int?
  ) -> Pattern {
    if let entry = entries[Self.key(text, in: context)],
      plural == nil || entry.plurals != nil
    {
      return entry.forms[entry.plurals?.form(for: count ?? 1) ?? 0]
    }
    let isOther = count.map { $0.magnitude != 1 } ?? false
    let english = Pattern(english: (isOther ? plural : nil) ?? text)
    return change?(english) ?? english
  }

  /// Returns the forms of a template's message, each with the places of its arguments.
  ///
  /// - Parameters:
  ///   - text: The English text, which is the one for 1 if there's a plural.
  ///   - plural: The English text for any other number.
  ///   - context: The context of the message.
  /// - Returns: The forms, one without a plural.
  /// - Throws: A ``CatalogError/Problem`` for an invalid English text.
  public func forms(
    _ text: String, plural: String?, in context: String?
  ) throws(CatalogError.Problem) -> MessageForms {
    let english = try ([text] + (plural.map { [$0] } ?? [])).map(Pattern.init(validating:))
    if let entry = entries[Self.key(text, in: context)] {
      if plural != nil, let plurals = entry.plurals {
        return MessageForms(patterns: entry.forms, plurals: plurals)
      }
      if plural == nil {
        let form = entry.forms[entry.plurals?.form(for: 1) ?? 0]
        return MessageForms(patterns: [form], plurals: nil)
      }
    }
    return MessageForms(
      patterns: change.map { english.map($0) } ?? english,
      plurals: plural == nil ? nil : .english)
  }

  private func text(of value: Message.Value) -> String {
    switch value {
    case .text(let text): escaped(text)
    case .name(let name): Isolation.isolated(escaped(name))
    case .names(let names): formats.list(names.map { Isolation.isolated(escaped($0)) })
    case .number(let number): formats.number(number)
    case .signed(let number): formats.signed(number)
    case .decimal(let number, let places): formats.decimal(number, places: places)
    case .percent(let share): formats.percent(share)
    case .percentage(let number, let places): formats.percentage(number, places: places)
    case .message(let message): text(message)
    case .list(let messages): formats.list(messages.map(text))
    case .choice(let messages): formats.choice(messages.map(text))
    case .sequence(let messages): formats.sequence(messages.map(text))
    case .date(let date): formats.date(date)
    case .dayOfMonth(let date): formats.axis.dayOfMonth(date)
    case .month(let date): formats.axis.month(date)
    case .weekday(let day): formats.axis.weekday(day)
    case .hour(let hour): formats.axis.hour(hour)
    case .time(let time): formats.time(time)
    }
  }

  private func escaped(_ text: String) -> String { escape?(text) ?? text }

  private func html(of value: Message.Value) -> String {
    switch value {
    case .name(let name): Self.isolated(name)
    case .names(let names): formats.list(names.map(Self.isolated))
    case .message(let message): html(message)
    case .list(let messages): formats.list(messages.map(html))
    case .choice(let messages): formats.choice(messages.map(html))
    case .sequence(let messages): formats.sequence(messages.map(html))
    case .text, .number, .signed, .decimal, .percent, .percentage, .date, .dayOfMonth, .month,
      .weekday, .hour, .time:
      text(of: value).escapedForHTML
    }
  }

  private static func isolated(_ name: String) -> String {
    "<bdi>\(Isolation.contained(name).escapedForHTML)</bdi>"
  }
}

/// The texts of a message of a template, one for each plural form.
public struct MessageForms: Sendable {
  /// The texts, at least one.
  public let patterns: [Pattern]
  let plurals: PluralRule?

  /// Returns the index of the form for a number.
  public func index(for count: Int) -> Int { plurals?.form(for: count) ?? 0 }
}

/// An error in the file of a translation, or in the English text of a message.
public struct CatalogError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of error.
  public enum Problem: Error, Sendable, Equatable {
    /// The file or folder can't be read.
    case unreadable(SystemError)
    /// The file isn't UTF-8.
    case notUTF8
    /// The line isn't a part of the PO format.
    case syntax(String)
    /// The file has no header with plural forms.
    case missingHeader(String)
    /// The header's plural expression is invalid.
    case malformedPlural(String)
    /// A brace in the text doesn't belong to an argument.
    case malformedArgument(String)
  }

  /// The path of the file.
  public let file: String
  /// The line, counted from 1; 0 for the whole file.
  public let line: Int
  /// The kind of error.
  public let problem: Problem

  init(_ problem: Problem, file: String, line: Int) {
    self.file = file
    self.line = line
    self.problem = problem
  }

  /// The error in one line: file, line, and problem.
  public var description: String {
    if case .unreadable = problem { return "\(file) \(problem.sentence)" }
    return (line > 0 ? "\(file):\(line): " : "\(file): ") + problem.sentence
  }
}

extension CatalogError.Problem {
  fileprivate var sentence: String {
    switch self {
    case .unreadable(let reason): "can't be read: \(reason)"
    case .notUTF8: "the file isn't UTF-8"
    case .syntax(let text): "“\(text)” isn’t valid here"
    case .missingHeader(let field): "the header has no valid “\(field)”"
    case .malformedPlural(let text): "“\(text)” is not a plural expression"
    case .malformedArgument(let text): "“\(text)” has a brace outside an argument"
    }
  }
}
