import JSON
import Text

/// A change of a pool's policy or of a user, with the state that it's based on.
///
/// It's plain data, so that a change planned in one transaction can be applied in a later one, such as
/// after a second administrator's approval; what was seen is compared with the state at that time.
public enum DirectoryChange: Sendable, Equatable {
  /// Replaces the MFA policy of a pool; `version` is the version of the policy seen.
  ///
  /// `seen` is nil in a request that the version before this one stored.
  case policy(PolicyEdit, version: Int, seen: PolicyEdit?)
  /// Removes one factor of a user, or all if it's nil; `seen` are all factors, in order of enrollment.
  case factorsRemoved(ID<Factor>?, seen: [ID<Factor>])
  /// Disables a user, which also ends the sessions, or enables one.
  case disabled(Bool, seen: Bool)
  /// Ends a user's sessions; `seen` is the time of the last revocation, in seconds since 1970.
  case sessionsEnded(seen: Int64)
}

extension DirectoryChange {
  /// The stored form, a JSON object.
  var stored: String {
    let json: JSON =
      switch self {
      case .policy(let new, let version, let seen):
        [
          "change": "policy", "to": new.stored, "version": .number(JSON.Number(version)),
          "seen": seen?.stored ?? .null,
        ]
      case .factorsRemoved(let factor, let seen):
        [
          "change": "factors-removed", "to": factor.map { .string($0.text) } ?? .null,
          "seen": .array(seen.map { .string($0.text) }),
        ]
      case .disabled(let new, let seen):
        ["change": "disabled", "to": .bool(new), "seen": .bool(seen)]
      case .sessionsEnded(let seen):
        ["change": "sessions-ended", "to": nil, "seen": .number(JSON.Number(seen))]
      }
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// Reads a stored form; nil if any part is missing or unknown, such as that of a later version.
  init?(stored: String) {
    guard let json = try? JSON.parse(Array(stored.utf8)), let to = json["to"],
      let seen = json["seen"]
    else { return nil }
    switch json["change"]?.textValue?.text {
    case "policy":
      let old = PolicyEdit(stored: seen)
      guard let new = PolicyEdit(stored: to), let version = json["version"]?.numberValue?.int64,
        old != nil || seen.isNull
      else { return nil }
      self = .policy(new, version: Int(version), seen: old)
    case "factors-removed":
      let factor = to.textValue.map { ID<Factor>($0.text) }
      let all = seen.arrayValue?.compactMap { $0.textValue.map { ID<Factor>($0.text) } }
      guard factor != nil || to.isNull, let all, all.count == seen.arrayValue?.count else {
        return nil
      }
      self = .factorsRemoved(factor, seen: all)
    case "disabled":
      guard let new = to.boolValue, let old = seen.boolValue else { return nil }
      self = .disabled(new, seen: old)
    case "sessions-ended":
      guard let time = seen.numberValue?.int64 else { return nil }
      self = .sessionsEnded(seen: time)
    default: return nil
    }
  }
}

extension PolicyEdit {
  /// The fields as the audit log stores them.
  fileprivate var stored: JSON {
    .object(
      JSON.Object(
        auditFields.map { field in
          let (kind, text) = field.value.stored
          let texts = [kind, text].compactMap { $0 }
          return (field.name.storedName, .array(texts.map { .string($0) }))
        }))
  }

  fileprivate init?(stored: JSON) {
    guard let fields = stored.objectValue else { return nil }
    var values: [AuditFieldName: AuditValue] = [:]
    for (name, value) in fields {
      let texts = value.arrayValue?.compactMap { $0.textValue?.text } ?? []
      guard let field = AuditFieldName(stored: name.text), let kind = texts.first else {
        return nil
      }
      values[field] = AuditValue(kind: kind, text: texts.dropFirst().first)
    }
    self.init(auditValues: values)
  }
}
