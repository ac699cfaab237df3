import HTTP
import Identity

enum PolicyRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let pages = PolicyPages(
      identity: parts.identity, actions: parts.actions, failures: table.failures,
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
  static let policy = ScopePath0("policy")
  static let policyEdit = ScopePath0("policy", "edit")
  static let policyChanges = ScopePath0("policy", "changes")
  static let policyTOTPState = ScopePath0("policy", "totp-state")
  static let policyEvidence = ScopePath0("policy", "evidence.csv")
  static let affectedUsers = ScopePath0("policy", "affected")
  static let affectedUsersFile = ScopePath0("policy", "affected.csv")
  static let policyOffsets = ScopePath0("policy", "offsets.csv")

}
