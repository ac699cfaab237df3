import Identity
import Localization
import MailText

struct AuditFormatter: Sendable {
  /// The reader's time zone; nil for files, which have times in RFC 3339 and IDs of factors.
  private let times: Times?
  private let catalog: Catalog

  init(_ times: Times?, _ catalog: Catalog) {
    self.times = times
    self.catalog = catalog
  }

  func change(_ row: AuditRow) -> String {
    joined(row.changes.isEmpty ? Self.legacy(row) : row.changes.map { message($0) })
  }

  func capitalizedChange(_ row: AuditRow) -> String {
    let text = change(row)
    return text.prefix(1).uppercased() + text.dropFirst()
  }

  /// The fields that have an old value, on one line.
  func from(_ row: AuditRow) -> String {
    side(row, \.old) ?? row.legacyFrom ?? ""
  }

  /// The fields that have a new value, on one line.
  func to(_ row: AuditRow) -> String {
    side(row, \.new) ?? row.legacyTo ?? ""
  }

  private func side(_ row: AuditRow, _ side: (AuditChange) -> AuditValue?) -> String? {
    guard !row.changes.isEmpty else { return nil }
    return joined(row.changes.compactMap { change in side(change).map { fact(change, $0) } })
  }

  private func joined(_ facts: [Message]) -> String {
    facts.map { catalog.text($0) }.joined(separator: "; ")
  }

  /// A field with its values: “name Ada → Bo”, “email: a@example.com”, “3 sessions ended”.
  func line(_ change: AuditChange) -> String { catalog.text(message(change)) }

  private func message(_ change: AuditChange) -> Message {
    switch (change.old, change.new) {
    case (nil, nil): return name(change)
    case (let value?, nil), (nil, let value?): return fact(change, value)
    case (.secret?, .secret?):
      return Message("{field}: changed", ["field": .message(name(change))])
    case (let old?, let new?):
      let (before, after) = (text(old, change), text(new, change))
      // Only a part of the value that isn't shown differs.
      return old == new
        ? Message(
          "{field} {old} → {new} (changed)",
          [
            "field": .message(name(change)), "old": .message(before), "new": .message(after),
          ])
        : Message(
          "{field} {old} → {new}",
          [
            "field": .message(name(change)), "old": .message(before), "new": .message(after),
          ])
    }
  }

  private func fact(_ change: AuditChange, _ value: AuditValue) -> Message {
    if case .number(let number) = value,
      let counted = change.field.flatMap({ AuditFieldLabel($0).counting(number) })
    {
      return counted
    }
    return Message(
      "{field}: {value}",
      ["field": .message(name(change)), "value": .message(text(value, change))])
  }

  private func name(_ change: AuditChange) -> Message {
    change.field.map { AuditFieldLabel($0).name } ?? .verbatim(Self.plain(change.fieldName))
  }

  func reason(_ row: AuditRow) -> String {
    let ticket = row.ticket.map { Message("ticket {ticket}", ["ticket": .name($0)]) }
    let checks = row.proof.map { proof in
      Message(
        "identity checks: {checks}",
        ["checks": .name(proof.split(separator: "\n").joined(separator: "; "))])
    }
    return [Self.why(row), ticket, checks].compactMap { $0.map { catalog.text($0) } }
      .filter { !$0.isEmpty }.joined(separator: " · ")
  }

  private static func why(_ row: AuditRow) -> Message? {
    let note = (row.note?.isEmpty ?? true) ? nil : row.note
    switch (row.reason.map { AuditText.reason($0) }, note) {
    case (let reason?, let note?):
      return Message("{reason}: {note}", ["reason": .message(reason), "note": .name(note)])
    case (let reason?, nil): return reason
    case (nil, let note?): return .value(.name(note))
    case (nil, nil): return nil
    }
  }

  // MARK: - Values

  private func text(_ value: AuditValue, _ change: AuditChange) -> Message {
    let field = change.field
    return switch value {
    case .absent: field.map { Self.absence(of: $0) } ?? Message("none")
    case .text(let text): quotedIfAbsent(Self.plain(text))
    case .number(let number):
      field == .signInGoal ? ShareText.percent(basisPoints: number) : .value(.number(number))
    case .flag(let flag): Self.flag(flag, field)
    case .instant(let moment):
      .value(
        times.map { Self.isEnd(field) ? $0.exactEndValue(moment) : $0.value(moment) }
          ?? .text(moment.rfc3339))
    case .day(let day): .value(times == nil ? .text(day.description) : Times.value(day))
    case .duration(let seconds): Self.duration(seconds)
    case .list(let list): .value(.sequence(list.map { item(Self.plain($0), field) }))
    case .code(let code): Self.code(code, field)
    case .secret: Message("set")
    case .factors(let factors): .value(.sequence(factors.map { factor($0, change) }))
    }
  }

  /// Whether a time is the end of something that's chosen by its last day.
  private static func isEnd(_ field: AuditFieldName?) -> Bool {
    switch field {
    case .suspendedUntil, .exemptUntil, .grantEnds: true
    default: false
    }
  }

  /// Text that reads like an absent value is quoted.
  private func quotedIfAbsent(_ text: String) -> Message {
    text == catalog.text(Message("none"))
      ? Message("“{text}”", ["text": .text(text)]) : .verbatim(text)
  }

  private static func absence(of field: AuditFieldName) -> Message {
    switch field {
    case .lastSignIn, .approvalOver, .policyApprovalOver: Message("never")
    case .tokenChangesPerHour: Message("no limit")
    case .totp, .enforcement: Message("off")
    case .mfaState, .passwordEnforced, .passwordUpgrade, .passwordShortest, .passwordLongest:
      Message("not set")
    case .suspendedUntil, .changesLockedAt: Message("no")
    case .mandatoryFrom: Message("immediately")
    default: Message("none")
    }
  }

  private static func flag(_ flag: Bool, _ field: AuditFieldName?) -> Message {
    switch field {
    case .anonymousExpire:
      flag ? Message("deleted after 30 days") : Message("kept")
    case .emailVerified, .signsInByLink, .disabled, .isProtected, .codesLocked, .passwordEnforced,
      .changesNeedFactor, .sessionsKept, .allowsTenants, .passwordHashes:
      flag ? Message("yes") : Message("no")
    default: flag ? Message("on") : Message("off")
    }
  }

  private static func duration(_ seconds: Int) -> Message {
    if seconds > 0, seconds % 86_400 == 0, seconds > 86_400 {
      return Message(
        one: "{count} day", other: "{count} days", ["count": .number(seconds / 86_400)])
    }
    return Formatted.duration(seconds: seconds)
  }

  private func item(_ text: String, _ field: AuditFieldName?) -> Message {
    switch field {
    case .grants: Self.grant(text)
    case .passwordClasses: Self.code(text, field)
    default: quotedIfAbsent(text)
    }
  }

  /// A role and its place, which a space separates.
  private static func grant(_ text: String) -> Message {
    guard let space = text.firstIndex(of: " ") else {
      return Message("{role} (instance)", ["role": .message(role(text))])
    }
    return Message(
      "{role} ({place})",
      [
        "role": .message(role(String(text[..<space]))),
        "place": .text(String(text[text.index(after: space)...])),
      ])
  }

  private static func role(_ code: String) -> Message {
    Role(rawValue: code)?.name ?? .verbatim(code)
  }

  /// A factor's name or phone number; its ID too in files, and if only that identifies the factor.
  private func factor(_ factor: AuditFactor, _ change: AuditChange) -> Message {
    let name = Self.name(of: factor)
    let others = [change.old, change.new].flatMap { value in
      if case .factors(let factors)? = value { factors } else { [] as [AuditFactor] }
    }.filter { $0.id != factor.id }
    if times != nil, let name, !others.contains(where: { Self.name(of: $0) == name }) {
      return name
    }
    let nameless = factor.kind == .phone ? Message("phone") : Message("TOTP “authenticator”")
    return Message(
      "{factor} ({id})",
      ["factor": .message(name ?? nameless), "id": .text(Self.plain(factor.id))])
  }

  private static func name(of factor: AuditFactor) -> Message? {
    func text(_ text: String?) -> Message.Value? {
      text.flatMap { $0.isEmpty ? nil : .text(plain($0)) }
    }
    let (name, number) = (text(factor.displayName), text(factor.phoneNumber))
    return switch (factor.kind, number, name) {
    case (.phone, let number?, let name?):
      Message("phone {number} “{name}”", ["number": number, "name": name])
    case (.phone, let number?, nil): Message("phone {number}", ["number": number])
    case (.phone, nil, let name?): Message("phone “{name}”", ["name": name])
    case (.totp, _, let name?): Message("TOTP “{name}”", ["name": name])
    case (_, _, nil): nil
    }
  }

  /// The text of a stable identifier; the identifier itself if it's unknown.
  private static func code(_ code: String, _ field: AuditFieldName?) -> Message {
    field.flatMap { AuditCode.message(code, $0) } ?? .verbatim(plain(code))
  }

  /// Text that can't imitate the start of another field or reverse the text after it: a space
  /// after a semicolon becomes a no-break space, and control characters are replaced.
  static func plain(_ text: String) -> String {
    guard
      text.utf8.contains(where: {
        $0 < 0x20 || $0 == 0x3B || $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2
      })
    else { return text }
    var result = String.UnicodeScalarView()
    var last: Unicode.Scalar = " "
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x20 where last == ";": result.append("\u{A0}")
      case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: result.append("\u{FFFD}")
      default: result.append(scalar)
      }
      last = scalar
    }
    return String(result)
  }

  // MARK: - Entries of earlier versions

  /// The old and new values of an entry that holds text, one message per field.
  ///
  /// Both sides are stored as `field: value; …`. If their fields don't match, the result is one
  /// message with both sides in full.
  private static func legacy(_ row: AuditRow) -> [Message] {
    switch (row.legacyFrom, row.legacyTo) {
    case (nil, nil): return []
    case (let from?, nil): return [Message("was {value}", ["value": .text(from)])]
    case (nil, let to?): return [.verbatim(to)]
    case (let from?, let to?):
      let pairs = zip(fields(from), fields(to))
      guard fields(from).count == fields(to).count,
        pairs.allSatisfy({ $0.name == $1.name && $0.name != nil })
      else { return [Message("{old} → {new}", ["old": .text(from), "new": .text(to)])] }
      return pairs.map { old, new in
        Message(
          "{field} {old} → {new}",
          [
            "field": .text(String(old.name ?? "")), "old": .text(String(old.value)),
            "new": .text(String(new.value)),
          ])
      }
    }
  }

  private static func fields(_ text: String) -> [(name: Substring?, value: Substring)] {
    text.split(separator: "; ").map { part in
      guard let colon = part.firstRange(of: ": ") else { return (nil, part) }
      return (part[..<colon.lowerBound], part[colon.upperBound...])
    }
  }
}
