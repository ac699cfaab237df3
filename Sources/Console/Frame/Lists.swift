import HTTP
import Identity
import Localization
import OTP
import Templating
import Text

/// The search field above a list.
///
/// It's a GET form, so that the address of a result can be shared.
struct FilterView: ViewModel {
  let action: String
  let label: Message
  let query: String
  /// The address of the unfiltered list; nil without a search.
  let clear: String?
  /// Other query fields, which a search keeps.
  let kept: Form

  init(
    action: String, label: Message, query: String, keeping kept: Form = Form()
  ) {
    self.action = action
    self.label = label
    self.query = query
    self.kept = kept
    clear = query.isEmpty ? nil : kept.query(of: action)
  }

  static let keys: Keys<Self> = [
    .text(\.action),
    .text(\.label),
    .text(\.query),
    .text(\.clear),
    .list("kept") { HiddenField.all($0.kept) },
  ]
}

/// The footer of a list that is paged by key, not by page number.
struct PagerView: ViewModel {
  let count: Message
  let first: String?
  let next: String?

  /// `query` has no page key; `after` is nil for the first page, and `next` for the last one.
  init(
    shown: Message, path: String, query: Form, after: String?, next: String?
  ) {
    count =
      next == nil && after == nil
      ? shown : Message("On this page: {items}", ["items": .message(shown)])
    first = after == nil ? nil : query.query(of: path)
    self.next = next.map { query.at($0).query(of: path) }
  }

  static let keys: Keys<Self> = [
    .text(\.count),
    .text(\.first),
    .text(\.next),
  ]
}

extension SignedIn {
  /// A redirect to the first page of a list, for a page past its end; nil for any other page.
  ///
  /// The rows after its position have been deleted or have expired, so the list's empty state would be
  /// false.
  func firstPage<Row>(of path: String, insteadOf page: Page<Row>) -> Response? {
    guard page.items.isEmpty, page.next == nil, query["after"] != nil else { return nil }
    return .redirect(to: Form(query.entries.filter { $0.name != "after" }).query(of: path))
  }
}

struct EmptyView: ViewModel {
  let heading: Message
  let sentence: Message
  var link: Link?
  var more: Link?

  static let keys: Keys<Self> = [
    .text(\.heading),
    .text(\.sentence),
    .optional(\.link),
    .optional(\.more),
  ]
}

struct Fact: ViewModel {
  let label: Message
  let value: Markup

  init(_ label: Message, _ value: Markup) {
    self.label = label
    self.value = value
  }

  init(_ label: Message, _ text: Message) {
    self.init(label, Markup(escaping: text))
  }

  static let keys: Keys<Self> = [
    .text(\.label),
    .markup(\.value),
  ]
}

extension [Fact] {
  /// Adds a value, unless it's missing.
  mutating func add(_ label: Message, _ value: Markup?) {
    if let value { append(Fact(label, value)) }
  }

  /// Adds a text from outside, unless it's empty.
  mutating func add(_ label: Message, text: String) {
    add(label, text.isEmpty ? nil : HTML.isolated(text))
  }
}

extension HiddenField {
  static func all(_ query: Form) -> [HiddenField] {
    query.entries.map { HiddenField(name: $0.name.text, value: $0.value.text) }
  }
}

extension Form {
  /// Returns the query of a list with the key that a page starts after; nil for the first page.
  func at(_ after: String?) -> Form {
    var query = self
    if let after { query.add("after", after) }
    return query
  }

  /// The text of a field without leading and trailing whitespace; empty if the field is missing.
  func trimmed(_ name: String) -> String {
    // The page reports text that is too long and shows it again, so it isn't cut off here.
    var rest = (text(name, atMost: Form.longestText) ?? "").unicodeScalars[...]
    while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.properties.isWhitespace { rest.removeLast() }
    return String(rest)
  }

  /// The code that was typed in a field; empty if the field is missing.
  func code(_ name: String) -> TypedCode {
    TypedCode(text(name, atMost: Form.longestText) ?? "")
  }
}

/// A column of a table that can be hidden; the raw value is its name in a query.
protocol TableColumn: CaseIterable, Hashable, RawRepresentable<String>, Sendable {
  var heading: Message { get }
}

struct ColumnsForm: ViewModel {
  static let field = "column"

  let action: String
  let kept: Form
  let choices: [Choice]

  init<Column: TableColumn>(action: String, kept: Form, shown: Set<Column>) {
    self.action = action
    self.kept = kept
    choices = Column.allCases.map {
      Choice(value: $0.rawValue, text: $0.heading, isChosen: shown.contains($0))
    }
  }

  /// The columns that a query chooses; nil if it doesn't.
  ///
  /// An empty value marks a form without any.
  static func chosen(in query: Form) -> [String]? {
    let chosen = query.entries.filter { $0.name == UntrustedText(field) }.map(\.value.text)
    return chosen.isEmpty ? nil : chosen
  }

  static let keys: Keys<Self> = [
    .text(\.action),
    .list("kept") { HiddenField.all($0.kept) },
    .list(\.choices),
  ]
}

/// The number of rows on a page of a list, from the field `size` of its query.
struct PageSize: Equatable, Sendable {
  /// The sizes of a page; each divides the number of users that a search finds.
  private static let all = [10, 20, 50, 100, 200]
  private static let usual = 50

  let rows: Int

  /// Reads the size from a query; any other value means the usual size.
  init(_ query: Form) {
    let rows = query.text("size").flatMap { Int($0) } ?? Self.usual
    self.rows = Self.all.contains(rows) ? rows : Self.usual
  }

  /// The query with only the size; empty for the usual one.
  var form: Form { added(to: Form()) }

  /// Returns a query with the size, unless it's the usual one.
  func added(to form: Form) -> Form {
    var form = form
    if rows != Self.usual { form.add("size", String(rows)) }
    return form
  }
}

struct ListForm: ViewModel {
  /// The field of the list, in which NUL is shown: a list that was saved in another encoding has it,
  /// and what was pasted mustn't be lost.
  static let field: StaticString = "list"

  let action: String
  let typed: String
  let error: Message?

  init(_ context: PoolContext, typed: String = "", error: Message? = nil) {
    action = ConsolePaths.removals(context.pool)
    self.typed = typed
    self.error = error
  }

  static let keys: Keys<Self> = [
    .text(\.action),
    .text(\.typed),
    .text(\.error),
    .text("longest") { _ in Message.value(.number(BulkList.longest)) },
  ]
}

struct Figure: ViewModel {
  let label: Message
  let value: Message
  var change: FigureChange?
  let base: Message

  static let keys: Keys<Self> = [
    .text(\.label),
    .text(\.value),
    .optional(\.change),
    .text(\.base),
  ]
}

/// The change of a figure, with a mark for its direction.
struct FigureChange: ViewModel {
  let difference: Int
  let text: Message
  /// What it's compared with.
  let since: Message

  /// For a state.
  static let inMonth = Message("in 30 days")
  /// For what happened in the period.
  static let sinceBefore = Message("vs. prior 30 days")

  init(_ difference: Int, text: Message? = nil, _ since: Message) {
    self.difference = difference
    self.text =
      difference == 0
      ? Message("No change") : text ?? .value(.number(Int(difference.magnitude)))
    self.since = since
  }

  static let keys: Keys<Self> = [
    .flag("isUp") { $0.difference > 0 },
    .flag("isDown") { $0.difference < 0 },
    .text(\.text),
    .text(\.since),
  ]
}

extension Message {
  /// A number that was counted, or “12+” if counting ended there.
  static func counted(_ number: Int, isCut: Bool) -> Message {
    isCut ? Message("{count}+", ["count": .number(number)]) : .value(.number(number))
  }
}

/// A part of a whole, such as of the users of a pool.
struct Share {
  let part: Int
  let whole: Int

  init(part: Int, whole: Int) { (self.part, self.whole) = (part, whole) }

  /// A number from 0 to 1.
  init(_ share: Double) {
    whole = 1_000_000_000
    part = Int((share * Double(whole)).rounded())
  }

  init(_ point: EnrollmentPoint) { self.init(part: point.enrolled, whole: point.users) }

  var percent: Message { Meter.percent(part, of: whole) }

  /// The change in points of whole percentages; nil without a base.
  func change(from old: Share?, _ since: Message) -> FigureChange? {
    guard let old, old.whole > 0, whole > 0 else { return nil }
    let points =
      Meter.rounded(part, of: whole) - Meter.rounded(old.part, of: old.whole)
    return FigureChange(
      points,
      text: Message(one: "{count} pt", other: "{count} pts", ["count": .number(abs(points))]),
      since)
  }
}

struct Heading: ViewModel {
  let text: Message
  var isNumber = false
  var href: String?
  var direction: String?

  static let keys: Keys<Self> = [
    .text(\.text),
    .flag(\.isNumber),
    .text(\.href),
    .text(\.direction),
  ]
}

/// The automatic refresh of the page of work in progress, and the page's addresses, which keep it off.
struct PageRefresh: ViewModel {
  /// The interval, in seconds.
  private static let pause = 3
  /// The name in the query that turns it off.
  private static let still = "still"

  let path: String
  /// The tab of the lines that are shown; empty for all lines.
  let tab: String
  /// The key that the lines start after; nil for the first page.
  let after: String?
  let size: PageSize
  private let isOff: Bool

  init(_ path: String, _ query: Form, tab: String = "") {
    self.path = path
    self.tab = tab
    after = query.text("after")
    size = PageSize(query)
    isOff = query[Self.still] != nil
  }

  var query: Form { query(tab, isOff: isOff) }

  func address(ofTab tab: String) -> String { query(tab, isOff: isOff).query(of: path) }

  private func address(isOff: Bool) -> String {
    query(tab, isOff: isOff).at(after).query(of: path)
  }

  private func query(_ tab: String, isOff: Bool) -> Form {
    var form = Form()
    if !tab.isEmpty { form.add("show", tab) }
    if isOff { form.add(Self.still, "") }
    return size.added(to: form)
  }

  /// Adds the header field to the page of running work, unless it's off.
  func add(to response: inout Response) {
    if !isOff { response.fields.add("Refresh", String(Self.pause)) }
  }

  static let keys: Keys<Self> = [
    .flag(\.isOff),
    .number("pause") { _ in pause },
    .text("still") { $0.address(isOff: true) },
    .text("moving") { $0.address(isOff: false) },
  ]
}
