//! Files: records and exports, written whole or not at all.
