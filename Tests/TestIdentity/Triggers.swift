import Database

extension Connection {
  /// Lets changes fail, or runs a statement before each of them.
  ///
  /// - Parameters:
  ///   - name: The name of the trigger.
  ///   - event: The change, such as `DELETE ON factor`.
  ///   - condition: Which rows; nil for all.
  ///   - statement: The statement; nil to let the change fail.
  /// - Throws: ``DatabaseError``.
  func addTrigger(
    _ name: String, before event: String, when condition: String? = nil, _ statement: String? = nil
  ) throws {
    let condition = condition.map { "WHEN (\($0))" } ?? ""
    switch dialect {
    case .sqlite:
      try runScript(
        """
        CREATE TRIGGER \(name) /* test */ BEFORE \(event) \(condition)
        BEGIN \(statement ?? "SELECT RAISE(ABORT, 'not now')"); END
        """)
    case .postgreSQL:
      try runScript(
        """
        CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql /* test */ AS $$
          BEGIN \(statement ?? "RAISE EXCEPTION 'not now'"); RETURN old; END $$;
        CREATE TRIGGER \(name) /* test */ BEFORE \(event) FOR EACH ROW \(condition)
          EXECUTE FUNCTION \(name)()
        """)
    }
  }
}
