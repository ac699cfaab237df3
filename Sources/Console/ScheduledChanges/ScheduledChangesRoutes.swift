import HTTP
import Identity

/// Scheduled changes of a policy.
enum ScheduledChangesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = ScheduledChangesPage(
      identity: parts.identity, actions: parts.actions,
      view: try parts.template("scheduled-changes/list", for: ScheduledChangesView.self))
    table.inScope(.get, ConsolePaths.scheduledChanges, .readPolicy, page.show)
    table.inScope(
      ConsolePaths.scheduledChangeCancellation, performing: [.cancelScheduledChange],
      CancelScheduledChange(policies: parts.identity.policies, actions: parts.actions).perform)
  }
}

extension ConsolePaths {
  static let scheduledChanges = ScopePath0("policy", "scheduled")
  static let scheduledChangeCancellation = ScopePath1("policy", "scheduled", nil, "cancellation")
}
