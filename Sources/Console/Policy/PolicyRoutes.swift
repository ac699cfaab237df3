import HTTP
import Identity

/// The MFA policies of projects and tenants.
enum PolicyRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let pages = PolicyPages(
      identity: parts.identity, actions: parts.actions,
      form: try parts.template("policy/policy", for: PolicyView.self),
      check: try parts.template("policy/check", for: PolicyCheckView.self))
    let changes: [ConsoleAction] = [.changePolicy, .weakenPolicy]
    table.inScope(.get, ConsolePaths.policy, .readPolicy, PolicyPage(pages: pages).show)
    table.inScope(
      ConsolePaths.policy, preparing: changes, PreviewPolicyChange(pages: pages).perform)
    table.inScope(
      ConsolePaths.policyEdit, preparing: changes, EditPolicyChange(pages: pages).perform)
    table.inScope(
      ConsolePaths.policyChanges, performing: changes, SavePolicyChange(pages: pages).perform)
    let files = EvidenceFiles(pages: pages)
    table.inScope(.get, ConsolePaths.policyEvidence, .readPolicy, files.effects)
    table.inScope(.get, ConsolePaths.policyOffsets, .readPolicy, files.offsets)
    table.inScope(
      .get, ConsolePaths.affectedUsers, .findUsers,
      AffectedUsersPage(
        identity: parts.identity, frames: parts.frames,
        view: try parts.template("policy/affected", for: AffectedUsersView.self)
      ).show)
    table.inScope(
      ConsolePaths.affectedUsersFile, performing: [.exportUsers],
      AffectedUsersFile(identity: parts.identity, actions: parts.actions).download)
    table.inScope(
      ConsolePaths.policyTOTPState, performing: [.changePolicy], StateTOTP(pages: pages).perform)
  }
}

extension ConsolePaths {
  static let policy = ScopePath(
    Path("projects", nil, "policy", parameters: String.self),
    Path("projects", nil, "tenants", nil, "policy", parameters: String.self, String.self))
  static let policyEdit = belowPolicy("edit")
  static let policyChanges = belowPolicy("changes")
  static let policyTOTPState = belowPolicy("totp-state")
  static let policyEvidence = belowPolicy("evidence.csv")
  static let affectedUsers = belowPolicy("affected")
  static let affectedUsersFile = belowPolicy("affected.csv")
  static let policyOffsets = belowPolicy("offsets.csv")

  static func belowPolicy(_ word: PathComponent) -> ScopePath0 {
    ScopePath(
      Path("projects", nil, "policy", word, parameters: String.self),
      Path("projects", nil, "tenants", nil, "policy", word, parameters: String.self, String.self))
  }
}
