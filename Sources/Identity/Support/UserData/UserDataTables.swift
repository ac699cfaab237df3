import Database

extension UserDataTable {
  /// All tables that are exported.
  ///
  /// A test compares them with the schema: a new column is exported or has a reason.
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
      .text("reported_mailbox"),
    ],
    without: [
      "scope_key": .key, "email_folded": .copy, "name_folded": .copy, "has_totp": .copy,
      "has_phone": .copy, "last_login_day": .copy, "has_providers": .copy, "suspended_until": .copy,
      "last_code_attempt_at": .copy, "clock_off": .copy, "generation": .key,
      "has_former_addresses": .copy,
      "given_fields": .key,
    ])

  private static let signIn: [UserDataTable] = [
    .ofAccount("former_address", as: "formerAddresses", order: "address", [.text("address")]),
    .ofAccount("noticed_address", as: "noticedAddresses", order: "address", [.text("address")]),
    .ofAccount(
      "account_provider", as: "providers", order: "provider_id",
      [
        .text("provider_id"), .text("raw_id"), .text("email"), .text("display_name"),
        .text("photo_url"), .flag("email_verified"),
      ], without: ["scope_key": .key]),
    .ofAccount(
      "factor", as: "factors", order: "position",
      [
        .text("enrollment_id"), .text("kind"), .text("display_name"), .text("phone"),
        .time("enrolled_at"), .time("last_used_at"), .time("suspended_until"),
        .number("clock_offset"),
      ],
      without: [
        "position": .key, "sealed_secret": .secret, "secret_digest": .secret, "last_step": .key,
        "unused_steps": .key, "clock_trend": .key,
      ]),
    .ofAccount(
      "removed_factor", as: "removedFactors", order: "enrollment_id",
      [
        .text("enrollment_id"), .text("kind"), .text("display_name"), .text("phone"),
        .time("enrolled_at"), .time("last_used_at"), .time("suspended_until"),
        .time("removed_at"), .text("remover_name"), .time("until"), .number("clock_offset"),
      ],
      without: [
        "removal_id": .key, "removed_by": .administrator, "position": .key,
        "sealed_secret": .secret, "last_step": .key, "unused_steps": .key,
      ]),
    .ofAccount(
      "backup_code_set", as: "backupCodes", order: "kind",
      [.text("kind"), .time("made_at"), .time("expires_at")], without: ["sealed_key": .secret]),
    UserDataTable(
      "session", as: "sessions",
      [
        .seconds("auth_time_s"), .text("provider"), .text("factor_kind"), .text("enrollment_id"),
        .time("created_at"), .time("last_refresh_at"), .text("claims"), .flag("used_backup_code"),
        .seconds("signed_in_at_s"),
      ],
      without: [
        "session_id": .key, "token_digest": .secret, "account_key": .key, "generation": .key,
        "deleted_uid": .copy,
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
      ],
      without: ["scope_key": .key, "account_key": .key, "previous": .key, "step": .key]
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
      ],
      without: ["exemption_id": .key, "account_key": .key, "grantor_id": .administrator]
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
      ],
      without: [
        "approval_id": .key, "scope_key": .key, "uid": .copy, "factors": .key, "all_factors": .key,
        "change": .key, "job_id": .key, "users": .key, "requester_id": .administrator,
        "address": .administrator, "request_id": .administrator, "decider_id": .administrator,
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
      "bulk_item", as: "bulkRemovals",
      [
        .number("job_id", as: "bulkRemoval"),
        .text(
          readBy: """
            (SELECT j.kind FROM bulk_job j
              WHERE j.scope_key = bulk_item.scope_key AND j.job_id = bulk_item.job_id)
            """, as: "kind"),
        .text("given"), .text("result"), .number("removed"), .number("sessions"),
        .time("undo_until"),
      ],
      without: [
        "scope_key": .key, "line": .key, "uid": .copy, "factors": .key, "removal_id": .key,
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
      ], without: ["scope_key": .key]),
    .ofAccount(
      "caller_code", as: "callerCodes", order: "administrator_id",
      [.text("email"), .number("failures"), .time("sent_at"), .time("expires_at")],
      without: [
        "administrator_id": .administrator, "digest_key": .secret, "code_digest": .secret,
      ]),
    UserDataTable(
      "unreadable_secret", as: "unreadableSecrets",
      [.text("kind"), .text("part"), .text("reason"), .time("first_at"), .time("last_at")],
      without: ["project_id": .key, "tenant_id": .key, "object_id": .copy, "reported": .key]
    ) { subject in
      ["FROM unreadable_secret WHERE \(subject.unreadableSecrets)"]
    },
  ]

  private static let messages: [UserDataTable] = [
    UserDataTable(
      "user_link", as: "links",
      [
        .text("kind"), .text("about"), .number("failures"), .time("created_at"),
        .time("expires_at"), .time("used_at"), .text("address"), .number("job_id", as: "campaign"),
      ],
      without: [
        "link_digest": .secret, "account_key": .key, "valid_since_s": .copy, "generation": .key,
      ]
    ) { subject in
      subject.account.map { ["FROM user_link WHERE account_key = \($0.key)"] } ?? []
    },
    UserDataTable(
      "oob_code", as: "emailCodes",
      [
        .text("kind"), .text("email"), .text("new_email"), .text("enrollment_id"),
        .text("continue_url"), .time("created_at"), .time("expires_at"), .time("used_at"),
      ],
      without: [
        "code_digest": .secret, "scope_key": .key, "account_key": .key, "link": .secret,
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
      ],
      without: [
        "message_id": .key, "scope_key": .key, "account_key": .key, "sealed_text": .secret,
        "next_try_at": .key, "administrator_id": .key, "permission": .key,
        "about_uid": .key, "is_urgent": .key,
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

extension UserDataTable {
  package static let excluded: [String: UserDataExclusion] = [
    "account_beginning": .index, "account_search": .index, "account_text": .index,
    "activity_delta": .accountNumbers, "reach_account": .accountNumbers,
    "deleted_attempts": .accountNumbers,
    "activity_hour": .counts, "alert": .counts, "count_change": .counts, "enrollment_hour": .counts,
    "enrollment_mark": .counts, "offset_day": .counts, "reach_day": .counts,
    "reach_users": .counts, "sms_count": .counts, "user_erasure": .counts,
    "administrator": .administrators, "administrator_grant": .administrators,
    "administrator_provider_link": .administrators,
    "audit_reading": .administrators, "console_session": .administrators,
    "dismissed_attention": .administrators,
    "invitation": .administrators, "passkey": .administrators, "recovery_code": .administrators,
    "support_action": .administrators,
    "support_hold": .administrators,
    "api_key": .keys, "evidence_key": .keys, "identity_provider": .keys, "master_key": .keys,
    "service_token": .keys, "signing_key": .keys, "trusted_token_key": .keys,
    "approval_policy": .settings, "sign_in_provider": .settings,
    "sign_in_provider_role": .settings, "guidance": .settings,
    "policy_weakening": .settings, "project": .settings,
    "scope": .settings, "sign_off": .settings,
    "support_rules": .settings,
    "audit": .auditLog, "audit_change": .auditLog, "audit_check": .auditLog,
    "audit_erasure": .auditLog, "audit_head": .auditLog,
    "audit_link": .auditLog,
    "audit_tombstone": .auditLog,
    "backup_code": .secrets,
    "bulk_job": .bulkRemovals,
    "bulk_undo": .bulkRemovals,
    "instance": .server, "integrity_check": .server, "key_sequence": .server, "lease": .server,
    "node": .server,
    "reseal": .server, "schema_migration": .server,
    "throttle": .counters, "console_storage": .steps, "ticket": .steps, "verification_code": .steps,
  ]
}
