import Database

extension UserDataTable {
  /// All tables that are exported.
  ///
  /// A test compares them with the schema, and has the reasons for columns that aren't.
  package static let all: [UserDataTable] = [account] + signIn + support + messages

  private static let account = UserDataTable.ofAccount(
    "account", as: "account", order: "account_key",
    [
      .text("uid"), .text("email"), .flag("email_verified"), .text("initial_email"),
      .text("display_name"), .text("photo_url"), .text("phone"),
      .presence("password_hash", as: "hasPassword"), .time("password_updated_at"),
      .flag("email_link"), .flag("anonymous"), .flag("custom_auth"), .flag("disabled"),
      .text("custom_attributes"), .seconds("valid_since_s"), .time("created_at"),
      .time("last_login_at"), .time("last_refresh_at"), .number("wrong_codes"),
      .time("codes_blocked_until"), .flag("protected"), .time("changes_locked_at"),
      .text("reach"), .flag("initial_email_verified"), .number("sign_in_lock"),
      .text("reported_mailbox"), .time("asked_at"), .time("gone_at"),
    ])

  private static let signIn: [UserDataTable] = [
    .ofAccount("former_address", as: "formerAddresses", order: "address", [.text("address")]),
    .ofAccount("noticed_address", as: "noticedAddresses", order: "address", [.text("address")]),
    .ofAccount(
      "account_provider", as: "providers", order: "provider_id",
      [
        .text("provider_id"), .text("raw_id"), .text("email"), .text("display_name"),
        .text("photo_url"), .flag("email_verified"),
      ]),
    .ofAccount(
      "factor", as: "factors", order: "position",
      [
        .text("enrollment_id"), .text("kind"), .text("display_name"), .text("phone"),
        .time("enrolled_at"), .time("last_used_at"), .time("suspended_until"),
        .number("clock_offset"),
      ]),
    .ofAccount(
      "removed_factor", as: "removedFactors", order: "enrollment_id",
      [
        .text("enrollment_id"), .text("kind"), .text("display_name"), .text("phone"),
        .time("enrolled_at"), .time("last_used_at"), .time("suspended_until"),
        .time("removed_at"), .text("remover_name"), .time("until"), .number("clock_offset"),
      ]),
    .ofAccount(
      "backup_code_set", as: "backupCodes", order: "kind",
      [.text("kind"), .time("made_at"), .time("expires_at")]),
    UserDataTable(
      "session", as: "sessions",
      [
        .seconds("auth_time_s"), .text("provider"), .text("factor_kind"), .text("enrollment_id"),
        .time("created_at"), .time("last_refresh_at"), .text("claims"), .flag("used_backup_code"),
        .seconds("signed_in_at_s"),
      ]
    ) { subject in
      let keys = subject.pool.accountKeys
      return [
        """
        FROM session \(index: "session_by_deleted_uid") WHERE deleted_uid = \(subject.uid)
          AND account_key BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
        """
      ]
        + (subject.account.map { ["FROM session WHERE account_key = \($0.key)"] } ?? [])
    },
    UserDataTable(
      "code_attempt", as: "codeAttempts",
      [
        .time("at"), .text("way"), .text("result"), .text("enrollment_id"), .number("intervals"),
        .number("distance"), .flag("confirmed"), .number("times"), .text("address"),
        .text("user_agent"),
      ]
    ) { subject in
      guard let account = subject.account, let last = account.lastCodeAttemptAt else { return [] }
      let chain = CodeAttempt.chain(
        of: account.key, in: subject.pool.key, from: last)
      return ["FROM (\(chain) SELECT * FROM chain) AS attempts"]
    },
  ]

  private static let support: [UserDataTable] = [
    UserDataTable(
      "exemption", as: "exemptions",
      [
        .text("reason"), .text("note"), .text("ticket"), .time("granted_at"),
        .text("grantor_name"), .time("ends_at"),
      ]
    ) { subject in
      subject.account.map { ["FROM exemption WHERE account_key = \($0.key)"] } ?? []
    },
    UserDataTable(
      "approval", as: "approvals",
      [
        .text("kind"), .text("user_name"), .lines("factor_names"), .text("cause"),
        .text("requester_name"), .text("reason"), .text("note"), .text("ticket"), .lines("proof"),
        .text("caller_verification"), .time("requested_at"), .time("expires_at"), .text("state"),
        .time("decided_at"), .text("decider_name"), .text("answer"),
      ]
    ) { subject in
      [
        """
        FROM approval \(index: "approval_of_user")
        WHERE scope_key = \(subject.pool.key) AND uid = \(subject.uid) ORDER BY approval_id
        """
      ]
    },
    UserDataTable(
      "intent", as: "changesElsewhere",
      [
        .text("user_name"), .text("change"), .text("requester_name"), .text("reason"),
        .text("note"), .text("ticket"), .lines("proof"), .text("caller_verification"),
        .text("approver_name"), .text("state"), .text("cause"), .text("cause_text"),
        .time("requested_at"), .time("sent_at"), .seconds("valid_since_s"), .time("ended_at"),
      ]
    ) { subject in
      [
        """
        FROM intent WHERE scope_key = \(subject.pool.key) AND uid = \(subject.uid)
        ORDER BY intent_id
        """
      ]
    },
    UserDataTable(
      "bulk_item", as: "bulkRemovals",
      [
        .number("job_id", as: "bulkRemoval"),
        .text(
          """
          (SELECT j.kind FROM bulk_job j
            WHERE j.scope_key = bulk_item.scope_key AND j.job_id = bulk_item.job_id)
          """, as: "kind"),
        .text("given"), .text("result"), .number("removed"), .number("sessions"),
        .time("undo_until"),
      ]
    ) { subject in
      [
        """
        FROM bulk_item WHERE scope_key = \(subject.pool.key) AND uid = \(subject.uid)
        """
      ]
    },
    .ofAccount(
      "campaign_user", as: "campaigns", order: "job_id",
      [
        .number("job_id", as: "campaign"), .time("sent_at"), .time("opened_at"),
        .time("enrolled_at"), .number("reminders"),
      ]),
    .ofAccount(
      "caller_code", as: "callerCodes", order: "administrator_id",
      [.text("email"), .number("failures"), .time("sent_at"), .time("expires_at")]),
    UserDataTable(
      "unreadable_secret", as: "unreadableSecrets",
      [.text("kind"), .text("part"), .text("reason"), .time("first_at"), .time("last_at")]
    ) { subject in
      ["FROM unreadable_secret WHERE \(subject.unreadableSecrets)"]
    },
    UserDataTable(
      "mirror_fault", as: "mirrorFaults", [.text("reason")]
    ) { subject in
      ["FROM mirror_fault WHERE scope_key = \(subject.pool.key) AND uid = \(subject.uid)"]
    },
  ]

  private static let messages: [UserDataTable] = [
    UserDataTable(
      "user_link", as: "links",
      [
        .text("kind"), .text("about"), .number("failures"), .time("created_at"),
        .time("expires_at"), .time("used_at"), .text("address"), .number("job_id", as: "campaign"),
      ]
    ) { subject in
      subject.account.map { ["FROM user_link WHERE account_key = \($0.key)"] } ?? []
    },
    UserDataTable(
      "oob_code", as: "emailCodes",
      [
        .text("kind"), .text("email"), .text("new_email"), .text("enrollment_id"),
        .text("continue_url"), .time("created_at"), .time("expires_at"), .time("used_at"),
      ]
    ) { subject in
      (subject.account.map { ["FROM oob_code WHERE account_key = \($0.key)"] } ?? [])
        + subject.identifiers.recipients.map(subject.emailCodes)
    },
    UserDataTable(
      "outbox", as: "messages",
      [
        .text("channel"), .text("purpose"), .text("recipient"), .text("language"),
        .text("sender_name"), .text("reply_to"), .time("created_at"), .time("expires_at"),
        .number("tries"), .time("sent_at"), .time("failed_at"), .text("last_error"),
      ]
    ) { subject in
      let key = subject.account?.key
      let ofAccount: [SQL] =
        key.map { ["FROM outbox \(index: "outbox_by_account") WHERE account_key = \($0)"] } ?? []
      return ofAccount + [subject.messagesOfDeleted]
        + subject.identifiers.recipients.map(subject.messages)
    },
  ]
}
