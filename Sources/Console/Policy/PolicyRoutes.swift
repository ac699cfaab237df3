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
    table.inScope(
      ConsolePaths.policyTOTPState, performing: [.changePolicy], StateTOTP(pages: pages).perform)
  }
}

extension ConsolePaths {
  static let policy = ScopePath(
    Path("projects", nil, "policy", parameters: String.self),
    Path("projects", nil, "tenants", nil, "policy", parameters: String.self, String.self))
  static let policyEdit = policyForm("edit")
  static let policyChanges = policyForm("changes")
  static let policyTOTPState = policyForm("totp-state")

  private static func policyForm(_ word: PathComponent) -> ScopePath0 {
    ScopePath(
      Path("projects", nil, "policy", word, parameters: String.self),
      Path("projects", nil, "tenants", nil, "policy", word, parameters: String.self, String.self))
  }
}
