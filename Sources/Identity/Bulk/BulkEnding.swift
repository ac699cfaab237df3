public enum BulkEnding: Sendable, Equatable {
  case refused(by: String, answer: String)
  case withdrawn(by: String)
  /// No one decided the request for approval in time.
  case expired
  /// Something had changed since the request for approval.
  case overtaken(ApprovalObstacle)
  case stopped(by: String)
  case poolDeleted
  case permissionLost
  /// A backup was restored.
  case restored
  /// Text that an earlier version stored.
  case text(String)

  var stored: String {
    switch self {
    case .refused(let name, let answer): StoredCode("refused", [name, answer]).text
    case .withdrawn(let name): StoredCode("withdrawn", [name]).text
    case .expired: StoredCode("expired").text
    case .overtaken(let obstacle): StoredCode("overtaken", [obstacle.rawValue]).text
    case .stopped(let name): StoredCode("stopped", [name]).text
    case .poolDeleted: StoredCode("scope-deleted").text
    case .permissionLost: StoredCode("permission-lost").text
    case .restored: StoredCode("restored").text
    case .text(let text): text
    }
  }

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
    case "scope-deleted": .poolDeleted
    case "permission-lost": .permissionLost
    case "restored": .restored
    default: nil
    }
  }
}
