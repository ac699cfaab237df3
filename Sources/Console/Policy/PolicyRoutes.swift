import HTTP
import Identity

enum PolicyRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let pages = PolicyPages(
      identity: parts.identity, actions: parts.actions, failures: table.failures,
      form: try parts.template("policy/policy", for: PolicyView.self),
      check: try parts.template("policy/check", for: PolicyCheckView.self))
    let changes: [ConsoleAction] = [.changePolicy, .weakenPolicy]
    table.inPool(.get, ConsolePaths.policy, .readPolicy, PolicyPage(pages: pages).show)
    table.inPool(
      ConsolePaths.policy, preparing: changes, PreviewPolicyChange(pages: pages).perform)
    table.inPool(
      ConsolePaths.policyEdit, preparing: changes, EditPolicyChange(pages: pages).perform)
    table.inPool(
      ConsolePaths.policyChanges, performing: changes, SavePolicyChange(pages: pages).perform)
    let files = EvidenceFiles(pages: pages)
    table.inPool(.get, ConsolePaths.policyEvidence, .readPolicy, files.effects)
    table.inPool(.get, ConsolePaths.policyOffsets, .readPolicy, files.offsets)
    table.inPool(
      .get, ConsolePaths.affectedUsers, .findUsers,
      AffectedUsersPage(
        identity: parts.identity, frames: parts.frames,
        view: try parts.template("policy/affected", for: AffectedUsersView.self)
      ).show)
    table.inPool(
      ConsolePaths.affectedUsersFile, performing: [.exportUsers],
      AffectedUsersFile(identity: parts.identity, actions: parts.actions).download)
    table.inPool(
      ConsolePaths.policyTOTPState, performing: [.changePolicy], StateTOTP(pages: pages).perform)
  }
}

extension ConsolePaths {
  static let policy = PoolPath0("policy")
  static let policyEdit = PoolPath0("policy", "edit")
  static let policyChanges = PoolPath0("policy", "changes")
  static let policyTOTPState = PoolPath0("policy", "totp-state")
  static let policyEvidence = PoolPath0("policy", "evidence.csv")
  static let affectedUsers = PoolPath0("policy", "affected")
  static let affectedUsersFile = PoolPath0("policy", "affected.csv")
  static let policyOffsets = PoolPath0("policy", "offsets.csv")

}
