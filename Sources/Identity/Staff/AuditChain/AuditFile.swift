import Crypto
public import Database
import JSON
import Text

public struct AuditFilePart: Sendable {
  public fileprivate(set) var lines: [AuditFileLine] = []
  public fileprivate(set) var end: AuditFilePosition
  /// When the oldest entry happened that isn't sealed; nil if all are.
  public fileprivate(set) var unsealedSince: Instant?
}

extension AuditFilePosition {
  /// Returns when the oldest entry happened that isn't written, sealed or not, in a database that may
  /// be in use; nil if all are.
  public func oldestUnwritten(in database: any Database) async throws -> Instant? {
    try await database.read { [self] connection in
      var position = self
      try position.goBack(in: connection)
      let sealed = try connection.first(
        """
        SELECT a.at FROM audit_link l JOIN audit a ON a.audit_id = l.audit_id
        WHERE l.sequence > \(position.sequence) ORDER BY l.sequence LIMIT 1
        """
      ) { try $0.next() as Instant }
      return try sealed ?? AuditChain.unsealedSince(connection)
    }
  }
}

extension AuditChain {
  /// The maximum size of a part in bytes, apart from its last line.
  private static let mostBytes = 524_288

  /// Returns the next lines of an audit file: sealed entries in order, each head after the entries
  /// that it covers, and a gap for entries that retention removed.
  ///
  /// The limit applies to entries, and to heads.
  ///
  /// - Returns: The lines; none if everything is written.
  public func auditFilePart(
    after position: AuditFilePosition, limit: Int = 500
  ) async throws -> AuditFilePart {
    try await store.read { now, connection in
      var part = AuditFilePart(end: position)
      try part.end.goBack(in: connection)
      let links = try connection.all(
        """
        SELECT \(ChainLink.columns) FROM audit_link WHERE sequence > \(part.end.sequence)
        ORDER BY sequence LIMIT \(limit)
        """
      ) { try ChainLink(&$0) }
      let last = links.last?.sequence ?? part.end.sequence
      var heads = try connection.all(
        """
        SELECT \(AuditHead.columns) FROM audit_head
        WHERE sequence > \(part.end.head) AND sequence <= \(last) ORDER BY sequence LIMIT \(limit)
        """
      ) { try AuditHead(&$0) }[...]
      func addHeads() {
        while let head = heads.first, head.sequence <= part.end.sequence {
          part.lines.append(AuditFileLine(head: head))
          part.end.advance(to: head)
          heads.removeFirst()
        }
      }
      // Those that were signed after their entries were written.
      addHeads()
      var size = 0
      for link in links where size < Self.mostBytes {
        let row = try Audit.find(link.entry, connection)
        let missing = row == nil ? link.sequence : link.sequence - 1
        if missing > part.end.sequence {
          part.lines.append(
            AuditFileLine(gapFrom: part.end.sequence + 1, through: missing, at: now))
        }
        if let row {
          let line = AuditFileLine(row, link)
          part.lines.append(line)
          size += line.bytes.count
        }
        part.end.advance(to: link)
        addHeads()
      }
      part.unsealedSince = try Self.unsealedSince(connection)
      return part
    }
  }
}

extension AuditChain {
  /// Returns whether an audit file has entries that the log lacks, as after the recovery of an earlier
  /// state, without a restore that the log records since the last entry that both have.
  public func isBehind(_ position: AuditFilePosition) async throws -> Bool {
    try await store.read { connection in
      var common = position
      try common.goBack(in: connection)
      guard common.sequence < position.sequence else { return false }
      let last = try ChainLink.find(common.sequence, connection)?.entry ?? 0
      let restore = try connection.first(
        """
        SELECT 1 FROM audit WHERE audit_id > \(last) AND action = \(AuditAction.instanceRestore)
        LIMIT 1
        """
      ) { _ in true }
      return restore == nil
    }
  }
}

/// A line of an audit file, in the format that docs/audit-file.md describes.
public struct AuditFileLine: Sendable {
  /// The position of the line's entry, of the first missing entry, or of the head.
  public let sequence: Int64
  public let at: Instant
  /// The line, without a line feed.
  public let bytes: [UInt8]

  private static let schema = "countersign-event/1"

  init(_ row: AuditRow, _ link: ChainLink) {
    self.init("audit", link.sequence, at: row.at) { event in
      event.append("link", .string(Hex.encode(link.link)))
      var format = EntryFormat()
      format.add(row, to: &event)
    }
  }

  init(head: AuditHead) {
    self.init("head", head.sequence, at: head.at) { $0.append("head", head.json) }
  }

  /// Creates the line for entries that retention removed before they were written.
  init(gapFrom first: Int64, through last: Int64, at now: Instant) {
    self.init("gap", first, at: now) { event in
      event.append("through", .number(JSON.Number(last)))
      event.append("reason", "expired")
    }
  }

  private init(
    _ type: String, _ sequence: Int64, at: Instant, _ add: (inout JSON.Object) -> Void
  ) {
    var event = JSON.Object()
    event.append("schema", .string(Self.schema))
    event.append("type", .string(type))
    event.append("sequence", .number(JSON.Number(sequence)))
    event.append("time", .string(at.rfc3339))
    add(&event)
    (self.sequence, self.at) = (sequence, at)
    bytes = JSON.object(event).serialized()
  }
}

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

extension String {
  /// Returns the longest beginning of whole characters with at most this many bytes.
  fileprivate func prefix(bytes most: Int) -> String {
    guard utf8.count > most else { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: most)
    while String.Index(end, within: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}

/// How far an audit file is written.
///
/// It has the links of some entries, because a restored backup uses numbers again for other entries.
public struct AuditFilePosition: Sendable, Equatable {
  struct Place: Sendable, Equatable {
    let sequence: Int64
    let link: [UInt8]
  }

  /// Written entries, the last one at the end.
  private(set) var places: [Place] = []
  /// The entry of the last written head.
  private(set) var head: Int64 = 0

  private static let schema = "countersign-audit-file-position/1"

  public init() {}

  public init?(_ text: [UInt8]) {
    guard let json = try? JSON.parse(text), json["schema"]?.textValue?.text == Self.schema,
      let head = json["head"]?.numberValue?.int64, let places = json["places"]?.arrayValue
    else { return nil }
    self.head = head
    for place in places {
      guard let sequence = place["sequence"]?.numberValue?.int64,
        let link = (place["link"]?.textValue?.text).flatMap({ Hex.decode(Array($0.utf8)) })
      else { return nil }
      self.places.append(Place(sequence: sequence, link: link))
    }
  }

  public var text: [UInt8] {
    let places = places.map { place -> JSON in
      ["sequence": .number(JSON.Number(place.sequence)), "link": .string(Hex.encode(place.link))]
    }
    let json: JSON = [
      "schema": .string(Self.schema), "head": .number(JSON.Number(head)),
      "places": .array(places),
    ]
    return json.serialized()
  }

  /// The last written entry; 0 for none.
  var sequence: Int64 { places.last?.sequence ?? 0 }

  /// Advances to an entry.
  ///
  /// Of earlier ones, some dozens are kept, which are the closer together the newer they are: after a
  /// restore, about as much is repeated as was lost.
  mutating func advance(to link: ChainLink) {
    var kept = [Place(sequence: link.sequence, link: link.link)]
    var last = link.sequence
    for (index, place) in places.enumerated().reversed() {
      // Without it, the gap would still be at most half as long as the way to its end.
      let isDispensable =
        index > 0 && last - places[index - 1].sequence <= (link.sequence - last) / 2
      guard !isDispensable else { continue }
      kept.append(place)
      last = place.sequence
    }
    places = kept.reversed()
  }

  mutating func advance(to head: AuditHead) { self.head = max(self.head, head.sequence) }

  /// Goes back to the last entry that this log still has, or that nothing is left out after.
  mutating func goBack(in connection: borrowing Connection) throws {
    let removed = try AuditTombstone.latest(connection)?.last ?? 0
    while let place = places.last, place.sequence > removed,
      try ChainLink.find(place.sequence, connection)?.link != place.link
    {
      places.removeLast()
      // The entry may have another head.
      head = min(head, max(sequence - 1, 0))
    }
  }
}
