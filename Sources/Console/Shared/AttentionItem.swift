import Identity
import Localization
import MailText
import Templating

/// One thing that needs attention, in the list of all projects or on the overview of its pool.
struct AttentionItem: ViewModel, Comparable {
  let severity: AttentionKind.Severity
  /// When it began, or was due; nil if that isn't known.
  let at: Instant?
  /// The project whose row counts it; nil for the instance.
  let projectID: ID<Project>?
  /// The pool, project, or person; nil on the overview of the pool.
  var name: Message?
  /// The project of a tenant.
  var project: String?
  var overview: String?
  let sentence: Message
  var link: Link?

  /// Whether an item is worse or, if they're equally bad, newer.
  static func < (one: AttentionItem, other: AttentionItem) -> Bool {
    guard one.severity == other.severity else { return one.severity < other.severity }
    guard let first = one.at else { return false }
    return other.at.map { first > $0 } ?? true
  }

  static func == (one: AttentionItem, other: AttentionItem) -> Bool {
    !(one < other) && !(other < one)
  }

  static let keys: Keys<Self> = [
    .text("shape") { $0.severity.shape },
    .text("word") { $0.severity.word },
    .flag("isBad") { $0.severity == .critical },
    .flag("isQuiet") { $0.severity == .notice },
    .text(\.name),
    .text(\.project),
    .text(\.overview),
    .text(\.sentence),
    .optional(\.link),
  ]
}

/// Collects what an administrator sees of what needs attention.
struct AttentionItems {
  let administrator: Administrator
  private var items: [AttentionItem] = []

  init(for administrator: Administrator) { self.administrator = administrator }

  /// Adds an item unless its kind is for others; `found` is the link of a kind that has none itself.
  mutating func add(
    _ kind: AttentionKind, at: Instant? = nil, in place: AttentionPlace, _ sentence: Message,
    found: Link? = nil, change: (inout AttentionItem) -> Void = { _ in }
  ) {
    let row = kind.row
    guard row.isSeen(by: administrator, in: place) else { return }
    var item = AttentionItem(
      severity: row.severity, at: at, projectID: place.project,
      name: place.name.map(Message.verbatim),
      project: place.tenant == nil ? nil : place.projectName,
      overview: place.project.map { ConsolePaths.overview($0, place.tenant) }, sentence: sentence,
      link: found ?? row.link(for: administrator, in: place))
    change(&item)
    items.append(item)
  }

  /// The worst first, then the newest, then in the order in which they were added.
  var sorted: [AttentionItem] {
    items.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }.map(\.element)
  }
}

extension PoolWarning.Reason {
  var kind: AttentionKind {
    switch self {
    case .stateNotGiven: .unstated
    case .enrolledWhileOff: .off
    case .phonesWhileOff: .phonesOff
    case .weakened(let policy):
      policy.weakenings.contains(.factorDisabled(.totp)) ? .turnedOff : .weakened
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
    }
  }
}

extension LeftOutside {
  var finding: Message {
    isCut
      ? Message(
        "{count} or more users with a second factor have no way to sign in.",
        ["count": .number(users)])
      : Message(
        one: "{count} user with a second factor has no way to sign in.",
        other: "{count} users with a second factor have no way to sign in.",
        ["count": .number(users)])
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
