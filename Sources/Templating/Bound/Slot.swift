public import Localization

/// The value of a key while a page is rendered.
@usableFromInline
enum Slot {
  case nothing
  case text(String)
  case message(Message)
  case number(Int)
  case flag(Bool)
  case markup(Markup)
  case rows(Rows)

  /// Whether a section for the value is shown.
  var isTrue: Bool {
    switch self {
    case .nothing: false
    case .text(let text): !text.isEmpty
    case .message(let message): !message.isEmpty
    case .number(let number): number != 0
    case .flag(let flag): flag
    case .markup(let markup): !markup.isEmpty
    case .rows(let rows): rows.count > 0
    }
  }
}

/// The rows of a section: a list, or an object as a list of one.
@usableFromInline
class Rows {
  let count: Int

  @usableFromInline
  init(count: Int) {
    self.count = count
  }

  /// Appends the value of each key of the row at index `row`.
  @usableFromInline
  func read(_ row: Int, into slots: inout [Slot]) {}

  /// The first row's values, kept for further dotted names through the object.
  private(set) lazy var first: [Slot] = {
    var slots: [Slot] = []
    if count > 0 { read(0, into: &slots) }
    return slots
  }()
}

@usableFromInline
final class ModelRows<Model>: Rows {
  @usableFromInline let models: [Model]
  @usableFromInline let keys: Keys<Model>.Storage

  @inlinable
  init(_ models: [Model], keys: Keys<Model>.Storage) {
    self.models = models
    self.keys = keys
    super.init(count: models.count)
  }

  @usableFromInline
  override func read(_ row: Int, into slots: inout [Slot]) {
    // Through a span, which lends the model instead of copying it.
    let models = models
    let lent = models.span
    keys.read(lent[row], &slots)
  }
}

/// Rows that are texts or messages, with `.` as their only key.
@usableFromInline
final class TextRows: Rows {
  private let texts: [Slot]

  @usableFromInline
  init(_ texts: [Slot]) {
    self.texts = texts
    super.init(count: texts.count)
  }

  @usableFromInline
  override func read(_ row: Int, into slots: inout [Slot]) {
    slots.append(texts[row])
  }
}
