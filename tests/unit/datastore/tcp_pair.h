/* Two connected TCP sockets over loopback. */
#ifndef SL_TESTS_UNIT_SERVE_TCP_PAIR_H
#define SL_TESTS_UNIT_SERVE_TCP_PAIR_H

/* ret[0] is the one that connected. Both are the caller's to close. */
void tcp_pair(int ret[2]);

#endif
