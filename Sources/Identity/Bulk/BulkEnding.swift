/// Why a bulk removal was stopped before the end of its list.
public enum BulkEnding: Sendable, Equatable {
  /// The request for approval was rejected, with a message to the requester.
  case refused(by: String, answer: String)
  /// The request for approval was withdrawn.
  case withdrawn(by: String)
  /// No one decided the request for approval in time.
  case expired
  /// Something had changed since the request for approval.
  case overtaken(ApprovalObstacle)
  /// An administrator stopped it.
  case stopped(by: String)
  /// The user pool was deleted.
  case scopeDeleted
  /// The requester no longer has permission.
  case permissionLost
  /// A backup was restored.
  case restored
  /// Text that an earlier version stored.
  case text(String)

  /// The text of the column.
  var stored: String {
    switch self {
    case .refused(let name, let answer): StoredCode("refused", [name, answer]).text
    case .withdrawn(let name): StoredCode("withdrawn", [name]).text
    case .expired: StoredCode("expired").text
    case .overtaken(let obstacle): StoredCode("overtaken", [obstacle.rawValue]).text
    case .stopped(let name): StoredCode("stopped", [name]).text
    case .scopeDeleted: StoredCode("scope-deleted").text
    case .permissionLost: StoredCode("permission-lost").text
    case .restored: StoredCode("restored").text
    case .text(let text): text
    }
  }

  /// The code in the audit log.
  var code: String { StoredCode(stored)?.code ?? "" }

  init(stored text: String) {
    guard let stored = StoredCode(text), let known = Self.known(stored) else {
      self = .text(text)
      return
    }
    self = known
  }

  private static func known(_ stored: StoredCode) -> BulkEnding? {
    let (first, second) = (stored.values.first ?? "", stored.values.dropFirst().first ?? "")
    return switch stored.code {
    case "refused": .refused(by: first, answer: second)
    case "withdrawn": .withdrawn(by: first)
    case "expired": .expired
    case "overtaken": ApprovalObstacle(rawValue: first).map { .overtaken($0) }
    case "stopped": .stopped(by: first)
    case "scope-deleted": .scopeDeleted
    case "permission-lost": .permissionLost
    case "restored": .restored
    default: nil
    }
  }
}
