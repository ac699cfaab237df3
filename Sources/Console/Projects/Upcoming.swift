import HTTP
import Identity
import Localization
import Templating

struct Upcoming: ViewModel {
  let items: [UpcomingItem]

  private static let most = 8
  /// How far exemptions and reviews are looked ahead, in days.
  private static let days = 7

  init(_ identity: Identity, _ exemptions: [Exemption], _ signedIn: SignedIn) async throws {
    let (administrator, times) = (signedIn.administrator, signedIn.times)
    let end = identity.clock.now().advanced(bySeconds: Int64(Self.days) * 86_400)
    let reviews = try await identity.reviews.upcoming(
      visibleTo: administrator, within: Self.days, limit: Self.most)
    let all =
      exemptions.prefix { $0.endsAt <= end }.prefix(Self.most).map { UpcomingItem($0, times) }
      + reviews.map { UpcomingItem($0.signOff, $0.projectName) }
    items = Array(all.sorted { $0.at < $1.at }.prefix(Self.most))
  }

  static let keys: Keys<Self> = [.list(\.items)]
}

struct UpcomingItem: ViewModel {
  let at: Instant
  let name: String
  let sentence: Message
  let href: String

  init(_ exemption: Exemption, _ times: Times) {
    at = exemption.endsAt
    name = exemption.poolName
    sentence = Message(
      "The MFA exemption of {user} ends on {at}.",
      ["user": .name(Formatted.short(exemption.label)), "at": times.endValue(exemption.endsAt)])
    href = exemption.userAddress
  }

  init(_ signOff: SignOff, _ projectName: String) {
    at = signOff.dueOn.start
    name = projectName
    sentence = Message(
      "The next policy review is due on {due}.", ["due": Times.value(signOff.dueOn)])
    href = ConsolePaths.review(signOff.project.text)
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.sentence),
    .text(\.href),
  ]
}
