import Identity
import Templating

/// Approval requests as text.
enum ApprovalWords {
  /// Returns a sentence that says that approval is required and why.
  static func need(_ cause: Approval.Cause) -> String {
    "Nothing is removed until a second administrator approves within one day: \(why(cause))."
  }

  /// Returns why approval is required, for the end of a sentence.
  static func why(_ cause: Approval.Cause) -> String {
    switch cause {
    case .lastFactor: "this removes a user’s last second factor where enrollment is mandatory"
    case .many: "the number of users exceeds the approval threshold"
    case .weakerPolicy: "the number of affected users exceeds the approval threshold"
    case .hour: "the number of users exceeds the requester’s remaining hourly actions"
    }
  }

  static func chip(_ state: Approval.State) -> Markup {
    switch state {
    case .waiting: Chip.look("pending")
    case .approved: Chip.on("approved")
    case .refused: Chip.bad("rejected")
    case .withdrawn: Chip.off("withdrawn")
    case .expired: Chip.off("expired")
    case .overtaken: Chip.off("superseded")
    }
  }

  /// Returns the requested action, without names: `Remove all factors`.
  static func what(_ approval: Approval) -> String {
    switch approval.kind {
    case .factor: "Remove factor"
    case .factors: "Remove all factors"
    case .policy: "Weaken MFA policy"
    case .job: "Remove factors of \(Words.count(approval.users, "user", "users"))"
    }
  }

  /// Returns the names of the project and the tenant: `Project / Tenant`.
  static func place(_ scope: Scope) -> String {
    scope.tenant == nil ? scope.name : "\(scope.projectName) / \(scope.name)"
  }

  /// Returns the number of pending approvals: `2 approvals pending`.
  static func waiting(_ count: Int) -> String {
    count >= Approvals.mostWaiting
      ? "\(Words.number(count)) or more approvals pending"
      : "\(Words.count(count, "approval", "approvals")) pending"
  }
}
