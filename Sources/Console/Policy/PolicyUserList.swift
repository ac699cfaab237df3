import HTTP
import Identity
import Localization
import Templating

/// A list of users whom a change of a policy affects: a filter of the users page, which also offers
/// the list as CSV.
struct PolicyUserList: ViewModel {
  let text: Message
  let href: String
  private(set) var notes: [Message]

  private init(_ text: Message, _ filter: Accounts.Filter, notes: [Message], in pool: Pool) {
    self.text = text
    self.notes = notes
    href = (["factor": filter.rawValue] as Form).query(of: ConsolePaths.users(pool))
  }

  static let keys: Keys<Self> = [
    .text(\.text),
    .text(\.href),
    .texts("notes") { $0.notes },
  ]

  /// Returns the lists of users whom a change affects: those with a factor that is or gets turned
  /// off, and those without any factor who have to enroll.
  ///
  /// No filter tells users with only one kind of factor from those with both, so the notes do.
  static func all(
    _ preview: PolicyPreview, _ unenrolled: UnenrolledUsers?, in pool: Pool
  ) -> [PolicyUserList] {
    let (policy, new) = (preview.policy, preview.new.configuration)
    let isAnyOn = Factor.Kind.allCases.contains(where: new.isOn)
    let old = preview.policy.edit
    let changesDuty =
      preview.losingSecondFactor > 0 || old.pattern != preview.new.pattern
      || old.mandatoryFrom != preview.new.mandatoryFrom
      || old.enforcement != preview.new.enforcement
    let mustEnroll =
      changesDuty && preview.new.pattern == .mandatory && isAnyOn
      && (unenrolled?.required ?? 0) > 0
    var lists: [PolicyUserList] = []
    for kind in Factor.Kind.allCases where !new.isOn(kind) {
      let only = policy.usersOnly(with: kind, under: new)
      let isTurnedOff = policy.configuration.isOn(kind) && preview.losingSecondFactor > 0
      guard only > 0, isTurnedOff || mustEnroll else { continue }
      lists.append(list(kind, only: only, policy, in: pool))
    }
    if lists.count > 1, policy.totpUsers + policy.phoneUsers > policy.enrolledUsers {
      lists[1].notes.append(Message("Users with both are in both lists."))
    }
    if mustEnroll, let unenrolled, policy.users > policy.enrolledUsers {
      let notes = [
        unenrolled.anonymous > 0
          ? Message("Anonymous users, who can’t enroll, are listed too.") : nil,
        unenrolled.haveDisabledFactors
          ? Message("Users whose second factors are all of disabled types aren’t listed.") : nil,
      ]
      lists.append(
        PolicyUserList(
          Message("Show users without a factor"), .none, notes: notes.compactMap(\.self),
          in: pool))
    }
    return lists
  }

  /// The list of users with a kind of factor, of whom some have no other enabled one.
  private static func list(
    _ kind: Factor.Kind, only: Int, _ policy: Policy, in pool: Pool
  ) -> PolicyUserList {
    let count = kind == .totp ? policy.totpUsers : policy.phoneUsers
    let notes =
      only == count
      ? []
      : [
        Message(
          one: "{count} of them has no other second factor of an enabled type.",
          other: "{count} of them have no other second factor of an enabled type.",
          ["count": .number(only)])
      ]
    return switch kind {
    case .totp:
      PolicyUserList(
        Message(
          one: "Show {count} user with an authenticator app",
          other: "Show {count} users with an authenticator app", ["count": .number(count)]), .totp,
        notes: notes,
        in: pool)
    case .phone:
      PolicyUserList(
        Message(
          one: "Show {count} user with a phone", other: "Show {count} users with a phone",
          ["count": .number(count)]), .phone, notes: notes,
        in: pool)
    }
  }
}
