/// Text for people, independent of their language: an English text and its arguments, or a text that
/// isn't translated, such as a name.
///
/// `{name}` in a text is the place of an argument; `{{` and `}}` are braces.
public struct Message: Sendable {
  let content: Content

  enum Content: Sendable {
    case verbatim(String)
    indirect case value(Value)
    /// A text without arguments, which needs no object.
    case plain(StaticString)
    case composed(Composed)
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

  /// A text with a context, a plural form, or arguments.
  final class Composed: Sendable {
    let context: StaticString?
    let text: StaticString
    let plural: StaticString?
    let arguments: KeyValuePairs<String, Value>

    init(
      _ context: StaticString?, _ text: StaticString, plural: StaticString?,
      _ arguments: KeyValuePairs<String, Value>
    ) {
      self.context = context
      self.text = text
      self.plural = plural
      self.arguments = arguments
    }

    func value(of name: some StringProtocol) -> Value? {
      arguments.first { $0.key.utf8.elementsEqual(name.utf8) }?.value
    }
  }

  private init(_ content: Content) {
    self.content = content
  }

  /// Creates a message.
  ///
  /// - Parameters:
  ///   - text: The English text.
  ///   - arguments: The arguments by name.
  ///   - context: What distinguishes the text from the same one that needs another translation.
  public init(
    _ text: StaticString, _ arguments: KeyValuePairs<String, Value> = [:],
    context: StaticString? = nil
  ) {
    let isPlain = arguments.isEmpty && context == nil
    self.init(isPlain ? .plain(text) : .composed(Composed(context, text, plural: nil, arguments)))
  }

  /// Creates a message whose text depends on a number, the argument `count`.
  ///
  /// - Parameters:
  ///   - one: The English text for one.
  ///   - other: The English text for any other number.
  ///   - arguments: The arguments by name, with `count`.
  ///   - context: What distinguishes the text from the same one that needs another translation.
  public init(
    one: StaticString, other: StaticString, _ arguments: KeyValuePairs<String, Value>,
    context: StaticString? = nil
  ) {
    self.init(.composed(Composed(context, one, plural: other, arguments)))
  }

  /// A text that isn't translated, such as a name.
  public static func verbatim(_ text: String) -> Message {
    Message(.verbatim(text))
  }

  /// A value on its own, such as a number in a table.
  public static func value(_ value: Value) -> Message {
    Message(.value(value))
  }

  /// Whether the message is an empty text.
  public var isEmpty: Bool {
    if case .verbatim(let text) = content { text.isEmpty } else { false }
  }
}

extension Message: Hashable {
  /// Returns whether two messages have the same texts and arguments.
  public static func == (left: Message, right: Message) -> Bool {
    switch (left.content, right.content) {
    case (.verbatim(let left), .verbatim(let right)): left == right
    case (.value(let left), .value(let right)): left == right
    case (.plain(let left), .plain(let right)): left.description == right.description
    case (.composed(let left), .composed(let right)):
      left.texts == right.texts && left.arguments.elementsEqual(right.arguments, by: ==)
    default: false
    }
  }

  /// Hashes the texts and arguments.
  public func hash(into hasher: inout Hasher) {
    switch content {
    case .verbatim(let text): hasher.combine(text)
    case .value(let value): hasher.combine(value)
    case .plain(let text): hasher.combine(text.description)
    case .composed(let message):
      hasher.combine(message.texts)
      for argument in message.arguments { hasher.combine(argument.value) }
    }
  }
}

extension Message.Composed {
  fileprivate var texts: [String?] {
    [context?.description, text.description, plural?.description]
  }
}
