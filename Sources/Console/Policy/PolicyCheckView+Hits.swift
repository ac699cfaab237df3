import HTTP
import Identity
import Localization
import OTP
import Templating

/// Who is affected by a change of the policy.
extension PolicyCheckView {
  /// The effects of the change on users, with their number.
  var hits: [Message] {
    var hits: [Message] = []
    let enrolled = preview.policy.totpUsers
    if preview.switchesOff {
      hits.append(
        losing == 0
          ? Message("No users are enrolled, so no one loses a second factor.")
          : Message(
            one: "{count} enrolled user will sign in without a second factor.",
            other: "{count} enrolled users will sign in without a second factor.",
            ["count": .number(losing)]))
      hits.append(
        Message(
          """
          Users can no longer enroll. Enrolled factors are kept and work again if TOTP is turned \
          back on.
          """))
    } else if new.isTOTPOn && !old.isTOTPOn {
      let users = preview.policy.users
      if users == 0 {
        hits.append(
          Message("There are no users yet. New users can enroll if your application offers it."))
      }
      if users > enrolled {
        hits.append(
          Message(
            one: """
              {count} user without an authenticator app can enroll, once the email is verified, if \
              your application offers it.
              """,
            other: """
              {count} users without an authenticator app can enroll, once their email is verified, \
              if your application offers it.
              """, ["count": .number(users - enrolled)]))
      }
      if enrolled > 0 {
        hits.append(
          Message(
            one: """
              {count} user already has an authenticator app and will be asked for a code at the \
              next sign-in.
              """,
            other: """
              {count} users already have an authenticator app and will be asked for a code at the \
              next sign-in.
              """, ["count": .number(enrolled)]))
      }
    } else if new.isTOTPOn && new.window.codes < old.window.codes {
      let side = Formatted.duration(seconds: new.window.lateness)
      hits.append(
        Message(
          one: """
            The narrower window applies to {count} enrolled user: codes from a device whose clock \
            is off by more than {duration} can be rejected.
            """,
          other: """
            The narrower window applies to {count} enrolled users: codes from a device whose \
            clock is off by more than {duration} can be rejected.
            """, ["count": .number(enrolled), "duration": .message(side)]))
    } else if new.isTOTPOn && new.window.codes > old.window.codes {
      hits.append(
        Message(
          one: """
            The wider window applies to {count} enrolled user. The chance that a random code is \
            accepted rises from {old} to {new} in a million.
            """,
          other: """
            The wider window applies to {count} enrolled users. The chance that a random code is \
            accepted rises from {old} to {new} in a million.
            """,
          [
            "count": .number(enrolled), "old": .number(old.window.codes),
            "new": .number(new.window.codes),
          ]))
    }
    if changesPattern, preview.new.effectiveEnforcement == nil {
      hits.append(
        Message(
          """
          The enrollment pattern is recorded for your application. The server doesn’t enforce it, \
          so nothing changes for users until the application acts on it.
          """))
    }
    let (was, becomes) = (preview.policy.edit, preview.new)
    // Enforcement by the server has its own time.
    if becomes.pattern == .mandatory, becomes.effectiveEnforcement == nil,
      new.isTOTPOn || new.isSMSOn,
      (was.pattern, was.mandatoryFrom) != (becomes.pattern, becomes.mandatoryFrom)
    {
      hits.append(mandatoryHit)
    }
    if let enforcementHit { hits.append(enforcementHit) }
    if old.isSMSOn != new.isSMSOn { hits.append(smsHit) }
    if hits.isEmpty { hits.append(Message("No one: the policy in effect stays the same.")) }
    return hits
  }

  /// What enforcement by the server means, and for how many users; nil if that doesn't change.
  private var enforcementHit: Message? {
    let was = preview.policy.edit
    guard let enforcement = preview.new.effectiveEnforcement,
      let day = preview.new.firstDueDay(at: now)
    else {
      return was.effectiveEnforcement == nil
        ? nil
        : Message(
          """
          The server no longer enforces enrollment. Users without a factor receive ordinary ID \
          tokens from their next sign-in or token refresh.
          """)
    }
    // Users whose factors are turned off become due.
    guard was.effectiveEnforcement != enforcement || changesPattern || losing > 0 else {
      return nil
    }
    guard let unenrolled else { return Self.uncounted }
    let (count, from) = (Message.Value.number(unenrolled.required), Times.value(day))
    return switch enforcement.applied(carriesMail: carriesMail).mode {
    case .claim:
      Message(
        one: "{count} user without a factor would have the claim in ID tokens from {day}.",
        other: "{count} users without a factor would have the claim in ID tokens from {day}.",
        ["count": count, "day": from])
    case .refuse:
      Message(
        one: """
          From {day}, {count} user without a factor would be refused, or get the claim in ID tokens \
          if they can’t be sent an enrollment link.
          """,
        other: """
          From {day}, {count} users without a factor would be refused, or get the claim in ID \
          tokens if they can’t be sent an enrollment link.
          """, ["count": count, "day": from])
    }
  }

  /// The effect of turning SMS codes on or off.
  private var smsHit: Message {
    let phones = preview.policy.phoneUsers
    if new.isSMSOn {
      return phones == 0
        ? Message("Users can enroll a phone if your application offers it.")
        : Message(
          one: """
            {count} user already has a phone and will be asked for an SMS code at the next \
            sign-in.
            """,
          other: """
            {count} users already have a phone and will be asked for an SMS code at the next \
            sign-in.
            """, ["count": .number(phones)])
    }
    guard losing > 0, !preview.switchesOff else {
      return Message(
        "Users can no longer enroll a phone, and no codes are sent to enrolled phones.")
    }
    // With server enforcement, the number of users who are due says what happens to them.
    return preview.new.effectiveEnforcement == nil
      ? Message(
        one: """
          Users can no longer enroll a phone. {count} user with a phone will sign in without a \
          second factor.
          """,
        other: """
          Users can no longer enroll a phone. {count} users with a phone will sign in without a \
          second factor.
          """, ["count": .number(losing)])
      : Message(
        one: """
          Users can no longer enroll a phone. {count} user with a phone has no other second \
          factor.
          """,
        other: """
          Users can no longer enroll a phone. {count} users with a phone have no other second \
          factor.
          """, ["count": .number(losing)])
  }

  private var mandatoryHit: Message {
    guard let unenrolled else { return Self.uncounted }
    let users = preview.policy.users
    let without = unenrolled.required
    guard without > 0 else {
      return users == 0
        ? Message("There are no users yet.")
        : Message("Every user already has a factor, so no one has to enroll.")
    }
    let all = Message.Value.number(users)
    let share = Message.Value.message(Meter.percent(without, of: users))
    guard let day = preview.new.mandatoryFrom, day.start > now else {
      return Message(
        one: """
          {count} user ({share} of {users}) has neither a factor nor an exemption and must enroll \
          at the next sign-in.
          """,
        other: """
          {count} users ({share} of {users}) have neither a factor nor an exemption and must enroll \
          at the next sign-in.
          """, ["count": .number(without), "users": all, "share": share])
    }
    return Message(
      one: """
        {count} user ({share} of {users}) has neither a factor nor an exemption and must enroll \
        by {day}.
        """,
      other: """
        {count} users ({share} of {users}) have neither a factor nor an exemption and must enroll \
        by {day}.
        """,
      ["count": .number(without), "users": all, "share": share, "day": Times.value(day)])
  }
}

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
