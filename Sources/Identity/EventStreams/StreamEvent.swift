import Crypto
public import JSON

/// An event of a stream, in the format that docs/events.md describes.
public struct StreamEvent: Sendable {
  /// What an event is.
  enum Content: Sendable, Equatable {
    /// An entry of the audit log.
    case entry
    /// Entries up to a position that the stream doesn't have; whether they were refused.
    case gap(through: Int64, isRefused: Bool)
    /// A signed head of the hash chain.
    case head
    /// A test.
    case test
  }

  /// The position of the event's entry, of the first missing entry, or of the head; 0 for a test.
  public let sequence: Int64
  /// When it happened.
  public let at: Instant
  /// The name: that of an entry's action, or `gap`, `head`, or `test`.
  public let name: String
  /// The event.
  public let json: JSON
  let content: Content

  private static let schema = "countersign-event/1"

  init(_ row: AuditRow, _ link: ChainLink, isLate: Bool = false) {
    sequence = link.sequence
    at = row.at
    name = row.actionName
    content = .entry
    var event = Self.beginning("audit", at: row.at, sequence: link.sequence)
    if isLate { event.append("late", true) }
    event.append("link", .string(Hex.encode(link.link)))
    var format = EntryFormat()
    format.add(row, to: &event)
    json = .object(event)
  }

  init(head: AuditHead) {
    sequence = head.sequence
    at = head.at
    name = "head"
    content = .head
    var event = Self.beginning("head", at: head.at, sequence: head.sequence)
    event.append("head", head.json)
    json = .object(event)
  }

  init(gapFrom first: Int64, through last: Int64, isRefused: Bool, at now: Instant) {
    sequence = first
    at = now
    name = "gap"
    content = .gap(through: last, isRefused: isRefused)
    var event = Self.beginning("gap", at: now, sequence: first)
    event.append("through", .number(JSON.Number(last)))
    event.append("reason", isRefused ? "refused" : "expired")
    json = .object(event)
  }

  init(test stream: EventStream, at now: Instant) {
    sequence = 0
    at = now
    name = "test"
    content = .test
    var event = Self.beginning("test", at: now, sequence: nil)
    event.append("stream", .string(stream.name))
    json = .object(event)
  }

  private static func beginning(
    _ type: String, at: Instant, sequence: Int64?
  ) -> JSON.Object {
    var event = JSON.Object()
    event.append("schema", .string(schema))
    event.append("type", .string(type))
    if let sequence { event.append("sequence", .number(JSON.Number(sequence))) }
    event.append("time", .string(at.rfc3339))
    return event
  }
}

/// Writes an entry of the audit log, within limits.
private struct EntryFormat {
  /// The maximum length of a text in bytes.
  private static let longestText = 4_096
  /// The size at which no further fields are added, in bytes.
  private static let mostFields = 24_576

  private var isCut = false
  private var size = 0

  mutating func add(_ row: AuditRow, to event: inout JSON.Object) {
    event.append("action", text(row.actionName))
    var actor: [(String, JSON)] = [("type", text(row.actorKind))]
    append("id", row.actorID, to: &actor)
    append("name", row.actorName, to: &actor)
    append("address", row.address, to: &actor)
    event.append("actor", .object(JSON.Object(actor)))
    if let project = row.project { event.append("project", text(project.text)) }
    if let tenant = row.tenant { event.append("tenant", text(tenant.text)) }
    var resource: [(String, JSON)] = [("type", text(row.objectKind))]
    append("id", row.objectID, to: &resource)
    append("name", row.objectName, to: &resource)
    event.append("resource", .object(JSON.Object(resource)))
    let changes = changes(row)
    if !changes.isEmpty { event.append("changes", .array(changes)) }
    var rest: [(String, JSON)] = []
    append("reason", row.reason ?? "", to: &rest)
    append("note", row.note ?? "", to: &rest)
    append("ticket", row.ticket ?? "", to: &rest)
    append("requestId", row.requestID, to: &rest)
    for (name, value) in rest { event.append(name, value) }
    if let proof = row.proof, !proof.isEmpty {
      event.append("identityChecks", .array(proof.split(separator: "\n").map { text(String($0)) }))
    }
    if isCut { event.append("truncated", true) }
  }

  private mutating func changes(_ row: AuditRow) -> [JSON] {
    var changes: [JSON] = []
    for change in row.changes {
      guard size < Self.mostFields else {
        isCut = true
        break
      }
      var members: [(String, JSON)] = [("field", text(change.fieldName))]
      if let old = change.old { members.append(("old", value(old))) }
      if let new = change.new { members.append(("new", value(new))) }
      changes.append(.object(JSON.Object(members)))
    }
    // Entries of earlier versions have one text for all fields.
    if row.legacyFrom != nil || row.legacyTo != nil {
      var members: [(String, JSON)] = [("field", "text")]
      if let old = row.legacyFrom { members.append(("old", ["text": text(old)])) }
      if let new = row.legacyTo { members.append(("new", ["text": text(new)])) }
      changes.append(.object(JSON.Object(members)))
    }
    return changes
  }

  private mutating func append(
    _ name: String, _ value: String, to members: inout [(String, JSON)]
  ) {
    if !value.isEmpty { members.append((name, text(value))) }
  }

  private mutating func text(_ value: String) -> JSON {
    let part = value.prefix(bytes: Self.longestText)
    if part.utf8.count < value.utf8.count { isCut = true }
    size += part.utf8.count
    return .string(part)
  }

  /// An object whose only member is named by the type, so that each member always has one type.
  private mutating func value(_ value: AuditValue) -> JSON {
    switch value {
    case .absent: ["none": true]
    case .text(let text): ["text": self.text(text)]
    case .number(let number): ["number": .number(JSON.Number(number))]
    case .flag(let flag): ["flag": .bool(flag)]
    case .instant(let moment): ["time": .string(moment.rfc3339)]
    case .day(let day): ["day": .string(day.description)]
    case .duration(let seconds): ["seconds": .number(JSON.Number(seconds))]
    case .code(let code): ["code": text(code)]
    case .secret: ["secret": true]
    case .list(let list): ["list": .array(self.list(list) { $0.text($1) })]
    case .factors(let factors):
      [
        "factors": .array(
          list(factors) { format, factor in
            var members: [(String, JSON)] = [
              ("id", format.text(factor.id)), ("type", .string(factor.kind.rawValue)),
            ]
            format.append("name", factor.displayName ?? "", to: &members)
            format.append("phoneNumber", factor.phoneNumber ?? "", to: &members)
            return .object(JSON.Object(members))
          })
      ]
    }
  }

  private mutating func list<T>(
    _ list: [T], _ item: (inout EntryFormat, T) -> JSON
  ) -> [JSON] {
    var items: [JSON] = []
    for one in list {
      guard size < Self.mostFields else {
        isCut = true
        break
      }
      items.append(item(&self, one))
    }
    return items
  }
}
