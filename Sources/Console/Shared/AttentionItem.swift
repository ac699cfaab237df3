import HTTP
import Identity
import Localization
import MailText
import Templating

/// One thing that needs attention, in the list of all projects or on the overview of its pool.
struct AttentionItem: ViewModel {
  /// With the state of all items of its kind in its place, which are dismissed together.
  var mark: AttentionMark
  /// When it began, or was due; nil if that isn't known.
  let at: Instant?
  /// The pool, project, or person; nil on the overview of the pool.
  var name: Message?
  /// The project of a tenant.
  var project: String?
  var overview: String?
  let sentence: Message
  var link: Link?
  var isDismissed = false

  var severity: AttentionKind.Severity { mark.kind.severity }

  /// Less for an item that's worse or, if they're equally bad, newer.
  fileprivate var order: (Int, Int64) {
    (severity.rawValue, at.map { -$0.microseconds } ?? .max)
  }

  static let keys: Keys<Self> = [
    .object("severity") { SeverityMark($0.mark.kind) },
    .text(\.name),
    .text(\.project),
    .text(\.overview),
    .text(\.sentence),
    .optional(\.link),
    .text("mark") { $0.severity == .critical ? nil : $0.mark.text },
    .text("dismissal") { _ in ConsolePaths.attention() },
    .flag(\.isDismissed),
  ]
}

/// Collects what an administrator sees of what needs attention.
struct AttentionItems {
  let administrator: Administrator
  private var items: [AttentionItem] = []
  /// The states of the items by their marks without one.
  private var states: [AttentionMark: AttentionMark] = [:]

  init(for administrator: Administrator) { self.administrator = administrator }

  /// Adds an item unless its kind is for others.
  ///
  /// Its time, or that of the last change of what it's about, and its number are its state; `found` is
  /// the link of a kind that has none itself.
  mutating func add(
    _ kind: AttentionKind, at: Instant? = nil, since change: Instant? = nil, number: Int64 = 1,
    in place: AttentionPlace, _ sentence: Message, found: Link? = nil,
    edit: (inout AttentionItem) -> Void = { _ in }
  ) {
    let row = kind.row
    guard row.isSeen(by: administrator, in: place) else { return }
    let mark = AttentionMark(kind, project: place.project, tenant: place.tenant)
    states[mark, default: mark].add(at: at ?? change, number: number)
    var item = AttentionItem(
      mark: mark, at: at, name: place.name.map(Message.verbatim),
      project: place.tenant == nil ? nil : place.projectName,
      overview: place.project.map { ConsolePaths.overview($0, place.tenant) }, sentence: sentence,
      link: found ?? row.link(for: administrator, in: place))
    edit(&item)
    items.append(item)
  }

  /// The worst first, then the newest, then in the order in which they were added.
  func sorted(without dismissed: [AttentionMark: Instant]) -> [AttentionItem] {
    // The sort keeps the order of equal items.
    items.sorted { $0.order < $1.order }.map { item in
      var item = item
      item.mark = states[item.mark] ?? item.mark
      item.isDismissed = item.severity != .critical && dismissed[item.mark] != nil
      return item
    }
  }
}

/// What needs attention, without what the administrator dismissed, which comes last on a page of all.
struct AttentionList: ViewModel {
  private static let field = "attention"

  let shown: [AttentionItem]
  /// The number of items of each project that weren't dismissed.
  let counts: [ID<Project>: Int]
  private let total: Int
  private let dismissed: Int
  /// Whether there may be more items than were read.
  private let isCut: Bool
  /// The pool of the overview; nil on the page of all projects.
  private let pool: Pool?

  /// `most` is the number of items that are shown at first.
  init(
    _ found: AttentionItems, without marks: [AttentionMark: Instant], most: Int = .max,
    isCut: Bool = false, on pool: Pool? = nil, _ signedIn: SignedIn
  ) {
    let items = found.sorted(without: marks)
    let open = items.filter { !$0.isDismissed }
    let isWhole = signedIn.query.trimmed(Self.field) == "all"
    shown = isWhole ? open + items.filter(\.isDismissed) : Array(open.prefix(most))
    counts = open.reduce(into: [:]) { counts, item in
      if let project = item.mark.project { counts[project, default: 0] += 1 }
    }
    (total, dismissed) = (items.count, items.count - open.count)
    (self.isCut, self.pool) = (isCut, pool)
  }

  var isEmpty: Bool { total == 0 }

  /// What a form names its page with: the IDs of the project and tenant of an overview.
  private var place: String {
    pool.map { "\($0.project.text)/\($0.tenant?.text ?? "")" } ?? ""
  }

  /// The address of the page that a form names, that of all projects unless it names an overview.
  static func page(of place: String) -> String {
    let ids = place.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard ids.count == 2, !ids[0].isEmpty else { return ConsolePaths.projects() }
    return ConsolePaths.overview(ID(ids[0]), ids[1].isEmpty ? nil : ID(ids[1]))
  }

  static func all(of page: String) -> String {
    ([field: "all"] as Form).query(of: page) + "#attention"
  }

  static let keys: Keys<Self> = [
    .list("items") { $0.shown },
    .flag("isPart") { $0.isCut || $0.shown.count < $0.total },
    .flag(\.isCut),
    .text("showing") { .value(.number($0.shown.count)) },
    .text("all") { .value(.number($0.total)) },
    .text("dismissed") { $0.dismissed == 0 ? nil : .value(.number($0.dismissed)) },
    .text("viewAll") { $0.shown.count < $0.total ? all(of: page(of: $0.place)) : nil },
    .text("place") { $0.place },
  ]
}

extension PoolWarning.Reason {
  /// When the policy was weakened.
  var at: Instant? {
    guard case .weakened(let policy) = self else { return nil }
    return policy.at
  }

  /// The number of users.
  var number: Int64 {
    switch self {
    case .stateNotGiven, .weakened, .signInOff: 1
    case .enrolledWhileOff(let users), .phonesWhileOff(let users), .lockedOut(let users):
      Int64(users)
    }
  }

  var kind: AttentionKind {
    switch self {
    case .stateNotGiven: .unstated
    case .enrolledWhileOff: .off
    case .phonesWhileOff: .phonesOff
    case .weakened(let policy):
      policy.weakenings.contains(.factorDisabled(.totp)) ? .turnedOff : .weakened
    case .signInOff: .signInOff
    case .lockedOut: .lockedOut
    }
  }

  func sentence(_ times: Times) -> Message {
    switch self {
    case .stateNotGiven: Message("TOTP state is unset (treated as enabled).")
    case .enrolledWhileOff(let users):
      Message(
        one: "TOTP is off: {count} user with a factor isn’t asked for codes.",
        other: "TOTP is off: {count} users with a factor aren’t asked for codes.",
        ["count": .number(users)])
    case .phonesWhileOff(let users):
      Message(
        one: "SMS codes are off: {count} user with a phone isn’t asked for codes.",
        other: "SMS codes are off: {count} users with a phone aren’t asked for codes.",
        ["count": .number(users)])
    case .weakened(let policy): policy.sentence(times)
    case .signInOff: Message("Sign-in is turned off: no one in this user pool can sign in.")
    case .lockedOut(let users):
      Message(
        one: "{count} user is locked out after too many incorrect codes.",
        other: "{count} users are locked out after too many incorrect codes.",
        ["count": .number(users)])
    }
  }
}

extension LeftOutside {
  var finding: Message {
    Message(
      "Users with a second factor who have no way to sign in: {number}",
      ["number": .message(.counted(users, isCut: isCut))])
  }
}

extension WeakenedPolicy {
  func sentence(_ times: Times) -> Message {
    let (who, time) = (Message.Value.name(Formatted.short(by)), times.value(at))
    let changes = Message.Value.sequence(weakenings.map(\.phrase))
    guard let reason else {
      return Message(
        "Policy weakened: {changes}. {who}, {time}.",
        ["who": who, "time": time, "changes": changes])
    }
    return Message(
      "Policy weakened: {changes}. {who}, {time}. Reason: {reason}",
      [
        "who": who, "time": time, "changes": changes, "reason": .name(Formatted.short(reason)),
      ])
  }
}

extension PolicyWeakening {
  var phrase: Message {
    switch self {
    case .factorDisabled(.totp): return Message("TOTP is off")
    case .factorDisabled(.phone): return Message("SMS is off")
    case .widerWindow(let from, let to):
      func codes(_ intervals: Int) -> Int { 2 * intervals + 1 }
      return Message(
        one: "{former} → {count} valid code", other: "{former} → {count} valid codes",
        ["count": .number(codes(to)), "former": .number(codes(from))])
    case .noLongerMandatory: return Message("MFA is no longer mandatory")
    case .looserPattern(_, let to):
      let pattern = PatternText.name(to, from: nil) ?? Message("none")
      return Message("new enrollment pattern: {pattern}", ["pattern": .message(pattern)])
    case .laterStart(_, let to):
      return Message("enrollment is mandatory only from {day}", ["day": Times.value(to)])
    case .looserEnforcement(_, nil): return Message("the server no longer enforces enrollment")
    case .looserEnforcement(_, let to?):
      return Message(
        "less strict server enforcement: {enforcement}", ["enforcement": .message(to.message)])
    }
  }
}
