import Identity

/// Formats the facts of audit entries as text.
struct AuditFormatter {
  /// The reader's time zone; nil for RFC 3339, as in files.
  private let times: Times?

  init(_ times: Times?) { self.times = times }

  /// The fields with their old and new values on one line; empty if the entry has none.
  func change(_ row: AuditRow) -> String {
    if row.changes.isEmpty { return Self.legacy(row).joined(separator: "; ") }
    return row.changes.map { line($0) }.joined(separator: "; ")
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
    return row.changes.compactMap { change in
      side(change).map { fact(change, $0) }
    }.joined(separator: "; ")
  }

  /// A field with its values: “name Ada → Bo”, “email: a@example.com”, “3 sessions ended”.
  func line(_ change: AuditChange) -> String {
    switch (change.old, change.new) {
    case (nil, nil): return name(change)
    case (let value?, nil), (nil, let value?): return fact(change, value)
    case (.secret?, .secret?): return "\(name(change)) changed"
    case (let old?, let new?):
      let (before, after) = (text(old, change.field), text(new, change.field))
      // Only a part of the value that isn't shown differs.
      let mark = old == new ? " (changed)" : ""
      return "\(name(change)) \(before) → \(after)\(mark)"
    }
  }

  private func fact(_ change: AuditChange, _ value: AuditValue) -> String {
    if case .count(let one, let many)? = change.field.map({ AuditFieldLabel($0) }),
      case .number(let number) = value
    {
      return Words.count(number, one, many)
    }
    return "\(name(change)): \(text(value, change.field))"
  }

  private func name(_ change: AuditChange) -> String {
    change.field.map { AuditFieldLabel($0).name } ?? Self.plain(change.fieldName)
  }

  // MARK: - Values

  private func text(_ value: AuditValue, _ field: AuditFieldName?) -> String {
    switch value {
    case .absent: field.map { Self.absence(of: $0) } ?? "none"
    case .text(let text): Self.quotedIfAbsent(Self.plain(text))
    case .number(let number): Words.number(number)
    case .flag(let flag): Self.flag(flag, field)
    case .instant(let moment): times?.words(moment) ?? moment.rfc3339
    case .day(let day): times == nil ? day.description : Times.words(day)
    case .duration(let seconds): Self.duration(seconds)
    case .list(let list):
      list.map { Self.item(Self.plain($0), field) }.joined(separator: ", ")
    case .code(let code): Self.code(code, field)
    case .secret: "set"
    case .factors(let factors): factors.map { Self.factor($0) }.joined(separator: ", ")
    }
  }

  /// Text that reads like an absent value is quoted.
  private static func quotedIfAbsent(_ text: String) -> String {
    text == "none" ? "“none”" : text
  }

  private static func absence(of field: AuditFieldName) -> String {
    switch field {
    case .lastSignIn, .approvalOver, .policyApprovalOver: "never"
    case .tokenChangesPerHour: "any number"
    case .totp: "off"
    case .mfaState, .passwordEnforced, .passwordUpgrade, .passwordShortest, .passwordLongest:
      "not set"
    case .suspendedUntil, .changesLockedAt: "no"
    case .mandatoryFrom: "sign-up"
    default: "none"
    }
  }

  private static func flag(_ flag: Bool, _ field: AuditFieldName?) -> String {
    switch field {
    case .anonymousExpire: flag ? "deleted after 30 days" : "kept"
    case .emailVerified, .signsInByLink, .disabled, .isProtected, .codesLocked, .passwordEnforced,
      .withdrawalNeedsFactor, .sessionsKept, .allowsTenants, .passwordHashes:
      flag ? "yes" : "no"
    default: flag ? "on" : "off"
    }
  }

  private static func duration(_ seconds: Int) -> String {
    if seconds > 0, seconds % 86_400 == 0, seconds > 86_400 {
      return Words.count(seconds / 86_400, "day", "days")
    }
    return Words.duration(seconds: seconds)
  }

  private static func item(_ text: String, _ field: AuditFieldName?) -> String {
    switch field {
    case .grants:
      guard let space = text.firstIndex(of: " ") else { return role(text) + " of the instance" }
      return "\(role(String(text[..<space]))) of \(text[text.index(after: space)...])"
    case .passwordClasses: return code(text, field)
    default: return quotedIfAbsent(text)
    }
  }

  private static func role(_ code: String) -> String { Role(rawValue: code)?.name ?? code }

  private static func factor(_ factor: AuditFactor) -> String {
    let name = factor.displayName.map { "“\(plain($0))”" }
    let parts =
      switch factor.kind {
      case .totp: ["TOTP", name ?? "“authenticator”"]
      case .phone: ["phone", factor.phoneNumber ?? "", name ?? ""]
      }
    return (parts.filter { !$0.isEmpty } + ["(\(plain(factor.id)))"]).joined(separator: " ")
  }

  /// The text of a stable identifier; the identifier itself if it's unknown.
  private static func code(_ code: String, _ field: AuditFieldName?) -> String {
    let known: String? =
      switch field {
      case .totp:
        [
          "disabled": "off", "enabled": "on", "mandatory": "on (mandatory)",
          "unspecified": "on (state unset)",
        ][code]
      case .adjacentIntervals: code == "default" ? "default (5)" : nil
      case .pattern: EnrollmentPattern(rawValue: code)?.name.lowercasedFirst
      case .passwordClasses:
        [
          "lowercase": "a lowercase letter", "uppercase": "an uppercase letter", "digit": "a digit",
          "symbol": "a symbol",
        ][code]
      case .role: ServiceTokenRole(rawValue: code)?.name.lowercasedFirst
      case .message: OutboxWords.purposes[code]
      case .reportedChange:
        if case .notice(let notice) = ReportedChange.Fact(stored: code) {
          OutboxWords.purposes[notice.purpose]
        } else {
          nil
        }
      case .outcome:
        [
          "permission-lost": "the requester no longer has permission",
          "account-out-of-reach": "the requester can no longer act on the account",
          "account-deleted": "the account was deleted", "policy-changed": "the policy has changed",
          "list-gone": "the list was deleted", "factor-gone": "a factor was removed",
          "factor-enrolled": "a factor was enrolled",
        ][code]
      case .approvalCause: Approval.Cause(rawValue: code)?.auditWords
      case .verification:
        ["totp": "an authenticator code", "recovery-code": "a recovery code"][code]
      case .blockReach:
        [
          "network": "the network address",
          "name-from-network": "this administrator, from the network address",
          "name": "this administrator, from all unknown devices",
          "device": "this administrator, from a known device",
        ][code]
      case .failure:
        [
          "changed": "changed, or moved from another row",
          "unknown-key": "encrypted with a master key that isn’t in the key ring",
        ][code]
      case .retirement:
        ["early": "early", "expired": "everything it signed has expired"][code]
      case .stopReason:
        code == "permission-lost" ? "the requester no longer has permission" : nil
      case .signUpMethod: code == "custom" ? "custom token" : nil
      case .importPart: code == "begin" ? "started" : nil
      case .linkKind:
        [
          "PASSWORD_RESET": "password reset", "VERIFY_EMAIL": "email verification",
          "EMAIL_SIGNIN": "sign-in", "VERIFY_AND_CHANGE_EMAIL": "email change",
        ][code]
      default: nil
      }
    return known ?? plain(code)
  }

  /// Text that can't imitate the start of another field: a space after a semicolon becomes a
  /// no-break space, and control characters are replaced.
  private static func plain(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x3B || $0 == 0x7F || $0 == 0xC2 }) else {
      return text
    }
    var result = String.UnicodeScalarView()
    var last: Unicode.Scalar = " "
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x20 where last == ";": result.append("\u{A0}")
      case 0..<0x20, 0x7F..<0xA0: result.append("\u{FFFD}")
      default: result.append(scalar)
      }
      last = scalar
    }
    return String(result)
  }

  // MARK: - Entries of earlier versions

  /// The old and new values of an entry that holds text, one line per field.
  ///
  /// Both sides are stored as `field: value; …`. If their fields don't match, the result is one
  /// line with both sides in full.
  private static func legacy(_ row: AuditRow) -> [String] {
    switch (row.legacyFrom, row.legacyTo) {
    case (nil, nil): return []
    case (let from?, nil): return ["was " + from]
    case (nil, let to?): return [to]
    case (let from?, let to?):
      let pairs = zip(fields(from), fields(to))
      guard fields(from).count == fields(to).count,
        pairs.allSatisfy({ $0.name == $1.name && $0.name != nil })
      else { return ["\(from) → \(to)"] }
      return pairs.map { "\($0.name ?? "") \($0.value) → \($1.value)" }
    }
  }

  private static func fields(_ text: String) -> [(name: Substring?, value: Substring)] {
    text.split(separator: "; ").map { part in
      guard let colon = part.firstRange(of: ": ") else { return (nil, part) }
      return (part[..<colon.lowerBound], part[colon.upperBound...])
    }
  }
}

extension String {
  fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}

extension Approval.Cause {
  /// Why approval is required.
  fileprivate var auditWords: String {
    switch self {
    case .lastFactor: "the last factor where enrollment is mandatory"
    case .many: "more users than one administrator may decide on"
    case .hour: "more users than actions left in the hour"
    case .weakerPolicy: "a weaker policy for more users than one administrator may decide on"
    }
  }
}
