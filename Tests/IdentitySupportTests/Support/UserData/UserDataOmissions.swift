@testable import Identity

/// Why a column of a table with data of users isn't exported.
enum UserDataOmission {
  /// A number or a position that only the database uses.
  case key
  /// A secret, or a digest of one.
  case secret
  /// Repeats another column, for an index.
  case copy
  /// Facts about an administrator: their ID, address, and requests.
  case administrator
}

/// Why a table has no data of a single user, or none that can be exported.
enum UserDataExclusion {
  /// Settings of a pool, project, or instance, and what administrators wrote about them.
  case settings
  /// Administrators, and what they do in the console.
  case administrators
  case keys
  /// Counts that name no user.
  case counts
  /// The number of an account, meaningless once the account is deleted.
  case accountNumbers
  /// An index for searches, made from the account.
  case index
  /// Entries of the audit log, exported as such, and their chain.
  case auditLog
  case server
  /// Counters of attempts, for a day.
  case counters
  /// Used or pending steps of a sign-in, encrypted or random, for minutes.
  case steps
  /// Bulk removals; what they say about a user is in their lines.
  case bulkRemovals
  /// Secrets alone.
  case secrets
}

extension UserDataTable {
  /// The columns of exported tables that aren't exported.
  static let omitted: [String: [String: UserDataOmission]] = [
    "account": [
      "account_key": .key, "scope_key": .key, "email_folded": .copy, "name_folded": .copy,
      "has_totp": .copy, "has_phone": .copy, "last_login_day": .copy, "has_providers": .copy,
      "suspended_until": .copy, "last_code_attempt_at": .copy, "clock_off": .copy,
      "generation": .key, "has_former_addresses": .copy, "given_fields": .key,
      "hosted": .key, "mirror_digest": .key, "missing_in": .key,
    ],
    "former_address": ["account_key": .key],
    "noticed_address": ["account_key": .key],
    "account_provider": ["account_key": .key, "scope_key": .key, "hosted": .key],
    "factor": [
      "account_key": .key, "position": .key, "sealed_secret": .secret, "secret_digest": .secret,
      "last_step": .key, "unused_steps": .key, "clock_trend": .key,
    ],
    "removed_factor": [
      "account_key": .key, "removal_id": .key, "removed_by": .administrator, "position": .key,
      "sealed_secret": .secret, "last_step": .key, "unused_steps": .key,
    ],
    "backup_code_set": ["account_key": .key, "sealed_key": .secret],
    "session": [
      "session_id": .key, "token_digest": .secret, "account_key": .key, "generation": .key,
      "deleted_uid": .copy,
    ],
    "code_attempt": ["scope_key": .key, "account_key": .key, "previous": .key, "step": .key],
    "exemption": ["exemption_id": .key, "account_key": .key, "grantor_id": .administrator],
    "approval": [
      "approval_id": .key, "scope_key": .key, "uid": .copy, "factors": .key, "all_factors": .key,
      "change": .key, "job_id": .key, "users": .key, "requester_id": .administrator,
      "address": .administrator, "request_id": .administrator, "decider_id": .administrator,
      "intent_id": .key,
    ],
    "intent": [
      "intent_id": .key, "scope_key": .key, "uid": .copy, "requester_kind": .administrator,
      "requester_id": .administrator, "address": .administrator, "request_id": .administrator,
      "sender": .key, "sender_until": .key,
    ],
    "bulk_item": [
      "scope_key": .key, "line": .key, "uid": .copy, "factors": .key, "removal_id": .key,
    ],
    "campaign_user": ["account_key": .key, "scope_key": .key],
    "caller_code": [
      "account_key": .key, "administrator_id": .administrator, "digest_key": .secret,
      "code_digest": .secret,
    ],
    "unreadable_secret": [
      "project_id": .key, "tenant_id": .key, "object_id": .copy, "reported": .key,
    ],
    "mirror_fault": ["scope_key": .key, "uid": .copy, "walk": .key],
    "user_link": [
      "link_digest": .secret, "account_key": .key, "valid_since_s": .copy, "generation": .key,
    ],
    "oob_code": ["code_digest": .secret, "scope_key": .key, "account_key": .key, "link": .secret],
    "outbox": [
      "message_id": .key, "scope_key": .key, "account_key": .key, "sealed_text": .secret,
      "next_try_at": .key, "administrator_id": .key, "permission": .key, "about_uid": .key,
      "is_urgent": .key,
    ],
  ]

  /// The tables that aren't exported.
  static let excluded: [String: UserDataExclusion] = [
    "account_beginning": .index, "account_search": .index, "account_text": .index,
    "activity_delta": .accountNumbers, "reach_account": .accountNumbers,
    "deleted_attempts": .accountNumbers,
    "activity_hour": .counts, "alert": .counts, "count_change": .counts, "enrollment_hour": .counts,
    "enrollment_mark": .counts, "offset_day": .counts, "reach_day": .counts,
    "reach_users": .counts, "sms_count": .counts, "user_erasure": .counts, "mirror": .counts,
    "administrator": .administrators, "administrator_grant": .administrators,
    "administrator_provider_link": .administrators,
    "audit_reading": .administrators, "console_session": .administrators,
    "dismissed_attention": .administrators,
    "invitation": .administrators, "passkey": .administrators, "recovery_code": .administrators,
    "support_action": .administrators,
    "support_hold": .administrators,
    "api_key": .keys, "evidence_key": .keys, "identity_provider": .keys, "master_key": .keys,
    "service_token": .keys, "signing_key": .keys, "trusted_token_key": .keys,
    "approval_policy": .settings, "connection": .settings, "sign_in_provider": .settings,
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
