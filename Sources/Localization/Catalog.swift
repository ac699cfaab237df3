import Foundation
import Text

/// The messages of one locale.
///
/// English texts are the catalog's own; a translation has a text for each of them, or falls back to
/// English.
public final class Catalog: Sendable {
  /// A message's text in each plural form.
  final class Entry: Sendable {
    let forms: [Pattern]
    /// The rule that chooses the form; nil for a message without plural forms.
    let plurals: PluralRule?
    /// The text of a message without plural forms and arguments, which most are.
    let plain: String?

    init(forms: [Pattern], plurals: PluralRule?) {
      self.forms = forms
      self.plurals = plurals
      plain = plurals == nil ? forms[0].plain : nil
    }
  }

  /// The locale as a BCP 47 tag, such as `en` or `pt-BR`.
  public let locale: String
  /// Whether the locale's script is written from right to left.
  public let isRightToLeft: Bool
  let entries: [String: Entry]
  let formats: Formats
  /// What replaces values and texts that aren't translated, in plain text.
  private let escape: (@Sendable (String) -> String)?

  init(
    locale: String, formats: Formats, entries: [String: Entry],
    escape: (@Sendable (String) -> String)? = nil
  ) {
    self.locale = locale
    self.formats = formats
    self.entries = entries
    self.escape = escape
    isRightToLeft =
      Locale.Language(identifier: locale).characterDirection == .rightToLeft
  }

  /// An English catalog without messages.
  public static let empty = Catalog(locale: "en", formats: Formats(locale: "en"), entries: [:])

  /// The keys of all messages, sorted.
  public var keys: [String] { entries.keys.sorted() }

  /// Returns the text of a message without plural forms, with the places of its arguments.
  public func pattern(_ key: String) -> Pattern? {
    guard let entry = entries[key], entry.plurals == nil else { return nil }
    return entry.forms[0]
  }

  /// Whether a message has plural forms.
  public func isPlural(_ key: String) -> Bool {
    entries[key]?.plurals != nil
  }

  /// Returns the names of a message's arguments; nil for an unknown key.
  public func arguments(of key: String) -> Set<String>? {
    entries[key]?.arguments
  }

  /// Returns a message as plain text.
  public func text(_ message: Message) -> String {
    switch message.content {
    case .verbatim(let text): escaped(text)
    case .value(let value): text(of: value)
    case .plain(let key): plain(key)
    case .keyed(let keyed):
      filled(keyed) { self.text(of: $0) }
    }
  }

  /// Returns a message as HTML: the catalog's text as it is, and the arguments escaped.
  public func html(_ message: Message) -> String {
    switch message.content {
    case .verbatim(let text): text.escapedForHTML
    case .value(let value): html(of: value)
    case .plain(let key): plain(key)
    case .keyed(let keyed):
      filled(keyed) { self.html(of: $0) }
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

  /// The text of a message without arguments.
  private func plain(_ key: String) -> String {
    if let text = entries[key]?.plain { return text }
    return filled(Message.Keyed(key, [:])) { self.text(of: $0) }
  }

  private func filled(
    _ message: Message.Keyed, format: (Message.Value) -> String
  ) -> String {
    guard let entry = entries[message.key] else {
      assertionFailure("no message “\(message.key)” in the catalog")
      return message.key
    }
    if let text = entry.plain { return text }
    var result = ""
    for piece in entry.form(for: message).pieces {
      switch piece {
      case .text(let text): result += text
      case .argument(let name):
        guard let value = message.value(of: name) else {
          assertionFailure("“\(message.key)” needs an argument “\(name)”")
          result += "{\(name)}"
          continue
        }
        result += format(value)
      }
    }
    return result
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

extension Catalog.Entry {
  /// The names of the arguments of all forms, with `count` if it chooses the form.
  var arguments: Set<String> {
    forms.reduce(into: plurals == nil ? [] : ["count"]) { $0.formUnion($1.arguments) }
  }

  func form(for message: Message.Keyed) -> Pattern {
    guard let plurals else { return forms[0] }
    guard case .number(let count) = message.value(of: "count") else {
      assertionFailure("“\(message.key)” needs a number “count”")
      return forms[0]
    }
    return forms[plurals.form(for: count)]
  }
}
