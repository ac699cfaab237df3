import Identity
import Localization

extension ApprovalObstacle {
  /// What has changed since the request, as a sentence.
  ///
  /// - Parameter name: The name of the requester.
  func sentence(_ name: String) -> Message {
    switch self {
    case .permissionLost: Message("approvals.permission-lost", ["name": .text(name)])
    case .accountOutOfReach: Message("approvals.account-out-of-reach", ["name": .text(name)])
    case .accountDeleted: Message("approvals.account-deleted")
    case .policyChanged: Message("approvals.policy-has-changed")
    case .listGone: Message("approvals.list-gone")
    case .factorGone: Message("approvals.factor-gone")
    case .factorEnrolled: Message("approvals.factor-enrolled")
    }
  }
}
