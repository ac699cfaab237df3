/// Text for people, independent of their language: a key of a ``Catalog`` and its arguments, or a
/// text that isn't translated, such as a name.
public struct Message: Sendable, Hashable {
  let content: Content

  enum Content: Sendable, Hashable {
    case verbatim(String)
    indirect case value(Value)
    /// A key without arguments, which needs no object.
    case plain(String)
    case keyed(Keyed)
  }

  /// The value of an argument, which the catalog formats.
  public enum Value: Sendable, Hashable {
    /// A text that is shown as it is.
    case text(String)
    /// A name, isolated so that it can't change the direction of the text around it.
    case name(String)
    /// Names in a list, each isolated.
    case names([String])
    /// An integer with the locale's digits and separators.
    case number(Int)
    /// An integer with the locale's plus or minus sign; zero has none.
    case signed(Int)
    /// A number with decimal places, in units of the last of them: 3 with one place is 0.3.
    case decimal(Int, places: Int)
    /// A share of one, rounded down to a whole percentage.
    case percent(Double)
    /// A percentage in units of its last decimal place, 9,990 with two places for 99.9%; zeros at the
    /// end aren't shown.
    case percentage(Int, places: Int)
    /// Another message.
    case message(Message)
    /// Other messages in a list: “a, b, and c”.
    case list([Message])
    /// Other messages, one of which applies: “a, b, or c”.
    case choice([Message])
    /// Other messages in a list without a conjunction: “a, b, c”.
    case sequence([Message])
    /// A date.
    case date(LocalDate)
    /// A date without its year, for the axis of a chart: `Nov 4`.
    case dayOfMonth(LocalDate)
    /// A month and its year, for the axis of a chart: `Nov 2026`.
    case month(LocalDate)
    /// The short name of a weekday, 1 for Monday to 7 for Sunday.
    case weekday(Int)
    /// An hour on a 24-hour clock, 0–23: `09:00`.
    case hour(Int)
    /// A date and time with its time zone.
    case time(LocalTime)
  }

  /// A class, so that a message is no larger than a text.
  final class Keyed: Sendable, Hashable {
    let key: String
    let arguments: KeyValuePairs<String, Value>

    init(_ key: String, _ arguments: KeyValuePairs<String, Value>) {
      self.key = key
      self.arguments = arguments
    }

    func value(of name: String) -> Value? {
      arguments.first { $0.key == name }?.value
    }

    static func == (left: Keyed, right: Keyed) -> Bool {
      left.key == right.key && left.arguments.elementsEqual(right.arguments, by: ==)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(key)
      for argument in arguments { hasher.combine(argument.value) }
    }
  }

  private init(_ content: Content) {
    self.content = content
  }

  /// Creates a message of the catalog.
  ///
  /// - Parameters:
  ///   - key: The key, such as `users.title`.
  ///   - arguments: The arguments by name; `count` chooses the plural form.
  public init(_ key: String, _ arguments: KeyValuePairs<String, Value> = [:]) {
    self.init(arguments.isEmpty ? .plain(key) : .keyed(Keyed(key, arguments)))
  }

  /// A text that isn't translated, such as a name.
  public static func verbatim(_ text: String) -> Message {
    Message(.verbatim(text))
  }

  /// A value on its own, such as a number in a table.
  public static func value(_ value: Value) -> Message {
    Message(.value(value))
  }

  /// The key; nil for a text that isn't translated.
  public var key: String? {
    switch content {
    case .plain(let key): key
    case .keyed(let keyed): keyed.key
    case .verbatim, .value: nil
    }
  }

  /// Whether the message is an empty text.
  public var isEmpty: Bool {
    if case .verbatim(let text) = content { text.isEmpty } else { false }
  }
}

/// Text that can be shown to people: a message, or a name that isn't translated.
public protocol MessageConvertible: Sendable {
  /// The text as a message.
  var message: Message { get }
}

extension Message: MessageConvertible {
  /// The message itself.
  public var message: Message { self }
}

extension String: MessageConvertible {
  /// The text, which isn't translated.
  public var message: Message { .verbatim(self) }
}
