import Identity
import Localization

extension ApprovalObstacle {
  func sentence(_ name: String) -> Message {
    switch self {
    case .permissionLost: Message("approvals.permission-lost", ["name": .name(name)])
    case .accountOutOfReach: Message("approvals.account-out-of-reach", ["name": .name(name)])
    case .accountDeleted: Message("approvals.account-deleted")
    case .policyChanged: Message("approvals.policy-changed-since")
    case .refusalNeedsEmail: Message("approvals.refusal-needs-email")
    case .listGone: Message("approvals.list-gone")
    case .factorGone: Message("approvals.factor-gone")
    case .factorEnrolled: Message("approvals.factor-enrolled")
    case .poolDeleted: Message("approvals.pool-deleted")
    }
  }
}
