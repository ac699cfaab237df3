import Identity
import Templating

struct FactorRow: ViewModel {
  let factor: Factor
  let isSuspended: Bool
  let times: Times

  init(_ factor: Factor, at now: Instant, _ times: Times) {
    self.factor = factor
    self.times = times
    isSuspended = factor.isSuspended(at: now)
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.factor.label },
    .text("id") { $0.factor.id.text },
    .text("kind") { $0.factor.kind.title },
    .text("number") { $0.factor.displayName == nil ? nil : $0.factor.phoneNumber },
    .flag(\.isSuspended),
    .markup("state") { _ in AccountChips.suspended },
    .markup("until") { $0.factor.suspendedUntil.map($0.times.end) },
    .markup("enrolled") { $0.times.day($0.factor.enrolledAt) },
    .markup("lastUsed") { $0.factor.lastUsedAt.map($0.times.past) ?? AccountChips.never },
  ]
}
