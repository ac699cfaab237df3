import Identity
import Localization
import Templating

struct UserExemption: ViewModel {
  let exemption: Exemption
  /// The address to end it; nil without the permission.
  let end: String?
  let times: Times

  init(_ exemption: Exemption, of account: Account, in context: PoolContext) {
    self.exemption = exemption
    times = context.signedIn.times
    let denial = context.signedIn.administrator.denial(
      of: .endExemption, on: account, in: context.pool)
    end = denial == nil ? ConsolePaths.endOfExemption(context.pool, account.id.text) : nil
  }

  static let keys: Keys<Self> = [
    .markup("sentence") {
      Message(
        "Exempted from MFA by {grantor} until {until}. Reason: {reason}",
        [
          "until": $0.times.endValue($0.exemption.endsAt),
          "grantor": .name(Formatted.short($0.exemption.grantorName)),
          "reason": .message(ExemptionText.reason($0.exemption)),
        ])
    },
    .text(\.end),
  ]
}
